// Pass: writes the bodies of called functions where a device cannot call them.
//
// Contract. A call of a function that has parallel loops, gives memory to array variables or calls
// what only the host has, itself or in what it calls, and a call that passes a view, is replaced by
// the function's body: its variables and arrays join the caller's tables, its fault sites and
// native functions too. A return becomes an assignment of the results and a break out of the loops
// around it. Recursive functions, functions of C text, and calls that pass arrays of a work-group
// or work-item stay calls.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void inline_calls(ir::Module& module);

}  // namespace unisono::passes
