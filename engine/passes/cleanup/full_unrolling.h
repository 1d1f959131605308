// Pass: loops that always run a few times, inside of other loops, become their iterations.
//
// `for di in range(-1, 2): s += g[i + di, j]` has a body for each di: what compares or indexes with
// di is known then, and the loop around may run on vectors. Bounds need not be numbers: their
// difference is, as in `for x in range(i - 1, i + 2)`. Only bodies without loops of their own,
// short ones: the code grows by as many copies. Parallel loops that are as short stay in their
// thread.
//
// Requires nothing; what has become constant is left to simplify. Returns whether it changed
// anything.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

bool full_unrolling(ir::Module& module);

}  // namespace unisono::passes
