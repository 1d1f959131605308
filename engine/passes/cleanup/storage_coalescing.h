// Pass: arrays whose lifetimes do not overlap share a slot.
//
// A slot releases its memory when the function ends, or when it is assigned new memory. In a long
// function with many temporary arrays each would keep its memory to the end, and each
// would be one more value on every exit path of the function. Two slots of a dtype are merged if
// each is allocated once, only its elements are used, and the statements that use the
// one follow those that use the other, in the same parallel loop or in none.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void storage_coalescing(ir::Module& module);

}  // namespace unisono::passes
