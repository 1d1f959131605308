// Pass: folds constants and drops integer arithmetic that changes nothing (x + 0, x * 1), so that
// text back ends print readable code and later passes see literals. Requires nothing. Keeps every
// value's bits: floats are folded only where all operands are constant, by ops/scalar_eval;
// mathematical functions are left to the target. An operand that may fault is never dropped.
#pragma once

#include "ir/build.h"

namespace unisono::passes {

void simplify(ir::Module& module);

/// The node itself, or a simpler one of the same value, looking at it and its operands only.
ir::E simplified(ir::Builder& b, ir::E e);

/// The constant's value if e is an int64 constant.
bool is_constant(ir::E e, std::int64_t& value);

}  // namespace unisono::passes
