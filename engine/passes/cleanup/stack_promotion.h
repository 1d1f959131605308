// Pass: small temporary arrays of constant size lie on the stack.
//
// A slot that gets memory once, of a small constant size, becomes a private array where nothing but
// loads and stores see its memory: its own, or those of slots that are pointed to it once, in the
// same list of statements. All of them stand behind what they use, in that list and in the same
// parallel loop, so that no iteration sees what another one left.
//
// Requires accesses that are lowered (lower_access): of views they name the slot itself.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void stack_promotion(ir::Module& module);

}  // namespace unisono::passes
