// Reductions whose result does not depend on the order, over packed memory: minima and maxima,
// any and all, sums of integers, counts.
//
// They take whole rows at the speed of memory, without leaves and tree (ops/reduction_tree.h):
// these operations give the same bits in any order, but for the sign of a zero among zeros of both
// signs, which a fold refuses to give.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "ops/ops.h"

namespace unisono::block {

/// What a fold does with each element before it is combined.
enum class FoldOf : std::uint8_t {
    Value,   ///< converts it to the dtype of the result
    NonZero  ///< asks whether it is not zero
};

/// The value of count > 0 elements of x; false where it depends on the order: it is one of some
/// equal ones then.
using RowFold = bool (*)(char* out, const char* x, std::int64_t count);

RowFold fold_x86_64_v3(Op op, FoldOf of, DType from, DType to);
RowFold fold_avx512(Op op, FoldOf of, DType from, DType to);
/// The fold for the widest vectors that this processor has.
RowFold fold(Op op, FoldOf of, DType from, DType to);

}  // namespace unisono::block
