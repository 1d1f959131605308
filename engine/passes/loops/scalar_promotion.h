// Pass: a loop that updates one element of an array keeps it in a variable.
//
// `for k: a[i] = max(a[i], b[k])` stores in each iteration what the next one reads. If a test
// before the loop shows that nothing else in it accesses the element, it is loaded before the
// loop and stored after it.
//
// Requires linear accesses (lower_access). Loops that may fault stay as they are.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void scalar_promotion(ir::Module& module);

}  // namespace unisono::passes
