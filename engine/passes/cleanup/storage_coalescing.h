// Pass: arrays that live for a few statements share a slot with others that are gone by then.
//
// A slot lets go of its memory when the function ends, or when it gets new memory. A long function
// has an array between statements here and there: each would keep its memory to the end, and each
// would be one more value on every way out of the function. Two slots of a dtype become one where
// each gets its memory once, nothing but elements is used of it, and the statements that use the
// one lie behind those that use the other, in the same parallel loop or in none.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void storage_coalescing(ir::Module& module);

}  // namespace unisono::passes
