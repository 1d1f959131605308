// Pass: variables that are assigned once, with what never changes, become what they are assigned.
//
// A name that holds an array has variables for its extents and strides, which nearly always stay
// what the array was made with. Without them tests on extents fold, so that fewer versions of a
// nest of loops remain, and later passes see which arrays have the same shape.
//
// Requires nothing; what has become constant is left to simplify.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void copy_propagation(ir::Module& module);

}  // namespace unisono::passes
