// Pass: turns complex numbers into pairs of real ones, so that what follows knows real numbers
// only. A complex variable becomes two; complex arrays stay arrays of pairs, whose elements are
// loaded and stored by parts. Operations become NumPy's formulas (ops/complex_rules.h), each
// operation rounded; parts that a formula needs more than once become variables in front of the
// statement. Runs behind `reductions`: no loop reduces a complex variable any more.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

/// Functions of complex64 are computed in float64, or without it in float32.
void split_complex(ir::Module& module, bool has_float64);

/// Whether the pass knows a formula for the operation on complex numbers.
bool splits(Op op);

}  // namespace unisono::passes
