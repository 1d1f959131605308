// Reductions of parts of a vector: NumPy's ufunc.reduceat.
#pragma once

#include <optional>

#include "ops/ops.h"
#include "tape/array.h"

namespace unisono::library {

/// Element k combines the elements of `a` from begins[k] (int64, in range) to begins[k + 1], or to
/// the end; where the next does not lie behind, it is the element at begins[k]. The order is that
/// of reductions. op: Add, Mul, Min, Max, And, Or, Xor.
Array reduce_segments(Op op, const Array& a, const Array& begins, std::optional<DType> dtype);

}  // namespace unisono::library
