// What operations give on scalars that the host knows, looked up by dtype: for callers that make
// many single results.
#pragma once

#include "ops/ops.h"
#include "ops/scalar_eval.h"

namespace unisono {

/// On operands of one dtype; `evaluate` is null where there is more to it than that function.
struct KnownOperation {
    ScalarFunction evaluate = nullptr;
    DType result = DType::Bool;
};

/// One for each dtype, in their order.
const KnownOperation* known_operations(Op op);

}  // namespace unisono
