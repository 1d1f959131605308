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

// A lane of the host in parts that begin at multiples of scan_block: the totals of the whole blocks
// of a part; what follows each of them, where `before` (null: nothing) precedes the part; and the
// results of the part. All memory is packed.
inline constexpr std::int64_t scan_block = 512;
void scan_totals(Op op, const View& part, const View& totals);
void scan_carries(Op op, const View& totals, const View* before, const View& carries);
void scan_part(Op op, const View& part, const View* before, const View& out);

}  // namespace unisono::library
