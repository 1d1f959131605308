// Pass: a serial loop whose steps update the same elements, one after the other, takes eight steps
// at a time.
//
// In `for k: for i: c[i] = c[i] + a[k] * b[i, k]` each step of k loads and stores all of c, and one
// element of each row of b. Where a test in front of the loop shows that the steps meet only in the
// element that both update, the body of the inner loop becomes eight updates of an element that is
// held in a variable: its value is that of the steps in order, and what eight steps read of a row
// lies side by side.
//
// Requires linear accesses (lower_access). Faults stay where they were: the test covers them too.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void unroll_and_jam(ir::Module& module);

}  // namespace unisono::passes
