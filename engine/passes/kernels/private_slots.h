// Pass: array variables inside of parallel loops become what a kernel can use.
//
// Contract. For devices, behind lower_access. In an outermost independent loop, or in a kernel, a
// slot that one statement points to a parameter, or to a slot from outside, is replaced by that one
// (`row = a[i]`); a slot that gets memory of a constant, small size once in an iteration becomes a
// private array. Others stay, and back ends refuse them.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void private_slots(ir::Module& module);

}  // namespace unisono::passes
