// Running sums, products, minima and maxima along an axis, in a fixed order of operations.
#pragma once

#include <optional>

#include "ops/ops.h"
#include "tape/array.h"

namespace unisono::library {

/// Element k of the result combines the elements 0 .. k of its lane (docs/numbers.md: blocks of 512
/// elements). op: Add, Mul, Min, Max, And, Or, Xor. Sums and products of small integers widen as
/// those of reductions do.
Array scan(Op op, const Array& a, int axis, std::optional<DType> dtype);

}  // namespace unisono::library
