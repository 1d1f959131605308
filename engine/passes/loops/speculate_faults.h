// Pass: a loop whose iterations may raise runs in strips that are computed before it is known
// whether they do.
//
// In `for i: out[i] = math.exp(x[i])` each iteration may leave the loop by an exception, so it
// cannot be made of vectors. A strip of iterations computes all of its values, keeps what it would
// store in scratch memory, and notes whether any of its iterations would have raised. If none
// would, the values are stored. Else nothing has happened yet: the loop goes on from there as it
// was written, and raises at the same iteration, with the same stores before it. Functions that are
// called become part of the strip. The loop as it was written also does the last iterations, and
// all of a short loop: the strips are marked as rare, so that they are compiled when a long one
// first comes (cold_splitting).
//
// Where few iterations of a strip need a function, which all of them compute, the loop goes on as
// it was written, too.
//
// Loops of arithmetic and mathematical functions on floats, whose iterations do not meet, as a test
// in front of the loop shows, but for sums, which are added in order. What raises must depend on
// floats alone: no load is protected by it.
//
// Requires linear accesses (lower_access).
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void speculate_faults(ir::Module& module);

}  // namespace unisono::passes
