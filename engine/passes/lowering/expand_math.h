// Pass: replaces the mathematical functions of ops/functions by their definitions, so that
// every compiling target emits and vectorises the same definition, with the same bits. Requires
// linear or inside accesses (no tests left in expressions). Values that a definition uses more than
// once become variables in front of the statement. `keep_long`: the target has the long reductions
// of angles, and powers with exponents that are not known, as functions of its own; otherwise the
// rarer case is guarded by a test.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void expand_math(ir::Module& module, bool keep_long);

}  // namespace unisono::passes
