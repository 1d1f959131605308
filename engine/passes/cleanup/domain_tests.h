// Pass: takes away tests of square roots of numbers that are never negative.
//
// `math.sqrt(dx * dx + dy * dy)` raises where the root is NaN and the operand is not. Squares, and
// sums, products and quotients of numbers without a sign have none themselves, also through
// variables and over the iterations of a loop (`s += d * d`), so no operand of such a root raises,
// and the loop around it, which nothing leaves any more, can be made of vectors.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void domain_tests(ir::Module& module);

}  // namespace unisono::passes
