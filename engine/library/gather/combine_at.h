// Writing through positions that may repeat: NumPy's ufunc.at.
#pragma once

#include "ops/ops.h"
#include "tape/array.h"

namespace unisono::library {

/// Whether `combine_at` takes op on elements of dtype `target` and values of dtype `values`.
bool combines_at(Op op, DType target, DType values);
/// The function that devices combine elements by (engine/algorithms); null where there is none.
const char* device_function(Op op, DType t);

/// target[p] = op(target[p], v) for each position p (int64, in range, into the packed target) and
/// its value v, one after the other. Computes in the common dtype; each result is cast to target's.
void combine_at(Op op, const Array& target, const Array& positions, const Array& values);

}  // namespace unisono::library
