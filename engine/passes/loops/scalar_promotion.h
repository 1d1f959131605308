// Pass: a loop that updates one element of an array holds it in a variable.
//
// `for k: a[i] = max(a[i], b[k])` stores in each iteration what the next one reads. Where a test in
// front of the loop shows that nothing else in it meets the element, it is read in front of the
// loop and stored behind it.
//
// Requires linear accesses (lower_access). Loops that may fault stay as they are.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void scalar_promotion(ir::Module& module);

}  // namespace unisono::passes
