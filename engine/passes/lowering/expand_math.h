// Pass: replaces mathematical functions that are our own (ops/functions) by what they are made of,
// so that every target that compiles emits and vectorises one definition, with its bits. Requires
// linear or inside accesses (no tests left in expressions). Values that a definition uses more than
// once become variables in front of the statement. `keep_long`: the target has the long reductions
// of angles, and powers with exponents that are not known, as functions of its own; otherwise the
// rarer of both ways stands behind a test.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void expand_math(ir::Module& module, bool keep_long);

}  // namespace unisono::passes
