// The precompiled loops of single operations (backends/block), for entries that run without a plan.
//
// A loop takes addresses and a count. An operand is `count` elements side by side or one element
// that stands for all; the output may be the very address of an operand whose elements have the
// same size, but may not overlap one otherwise.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "ops/ops.h"

namespace unisono::block_loops {

using Loop = void (*)(char* out, const char* a, const char* b, const char* c, std::int64_t count);
/// One loop per form: bit k of the index is set where operand k is one element. Where all are, form
/// 0 does with count 1.
using Forms = const Loop*;
/// Reduces `rows` rows of 1 to 512 elements that lie one after the other, each as one leaf.
using Leaves = void (*)(char* out, const char* x, std::int64_t count, std::int64_t rows);

/// The value of count > 0 elements of `from`, converted to `to`; the order does not affect it;
/// false where it is one of several equal ones (zeros of both signs).
using Fold = bool (*)(char* out, const char* x, std::int64_t count);

/// Null where there is no loop of the operation on operands of dtype t.
Forms operation(Op op, DType t);
Loop cast(DType from, DType to);
Forms select(DType t);
/// Null where op does not reduce t.
Leaves leaves(Op op, DType t);
Fold fold(Op op, DType from, DType to);

}  // namespace unisono::block_loops
