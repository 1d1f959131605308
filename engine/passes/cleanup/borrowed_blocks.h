// Pass: a short function that reads an array out of an object does not count itself among those
// that hold the array's memory.
//
// The object holds it. Where nothing in the function may let go of memory (no call, no loop, no
// function of the engine) the object does so until the function ends, so that no count is raised
// and lowered again. Whether memory that another slot takes over, or that goes to the caller, is
// counted is left as it is.
//
// A loop gives other threads time to assign the attribute: there the count stays.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void borrowed_blocks(ir::Module& module);

}  // namespace unisono::passes
