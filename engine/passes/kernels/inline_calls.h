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

/// Writes into a kernel, the first function, the bodies of functions that ask for their work-item,
/// meet the group at barriers, have arrays of it or are given them, or call such functions. Their
/// arrays are made where the kernel begins: each call has its own, a call in a loop the same each
/// time.
void inline_group_functions(ir::Module& module);

}  // namespace unisono::passes
