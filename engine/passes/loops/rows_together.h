// Pass: nests of loops, one after the other, that work on the same rows become one nest.
//
// In `e = np.exp(x - x.max(axis=-1, keepdims=True)); e / e.sum(axis=-1, keepdims=True)` each
// function goes through all of its array, which has left the caches when the next one reads it.
// Where what a nest stores is read by the next one in the same row only, their outer loops become
// one: a row goes through all of them while it lies in the cache nearest to the processor. What
// stands between the nests (extents, new memory, tests of shapes) moves in front of them.
//
// Every element is computed as before, from the same operands. Nests that may fault stay as they
// are. Requires indices per axis (runs before lower_access).
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void rows_together(ir::Module& module);

}  // namespace unisono::passes
