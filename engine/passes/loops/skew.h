// Pass: rows whose elements each depend on the one before them are computed several at a time.
//
// In `for i: for j: a[i, j] = (a[i, j] + a[i - 1, j + 1] + a[i, j - 1]) / 9` an element waits for
// its neighbour, so that a row takes as long as its operations one after the other. Four rows run
// together, each some elements behind the one above it, far enough that every element is read and
// written in the order of the loops: all distances between accesses that meet are constants. Loops
// side by side in the outer one become one, and arrays that carry an element from one to the next
// become variables. A test in front of the loop tells whether the rows are as the proof wants them.
//
// Requires linear accesses (lower_access). Faults stay where they were: the test covers them too.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void skew(ir::Module& module);

}  // namespace unisono::passes
