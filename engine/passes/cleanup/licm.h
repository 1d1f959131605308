// Pass: what all elements of a row share is computed once, in front of the loop over them.
//
// In `d / np.sqrt(v + eps)`, where v has one element per row, each element of d would read v and
// take the root again: no compiler can see that what the loop stores is not v. But iterations of a
// vector loop do not depend on each other, so that what all of them read none of them stores.
//
// Loops whose only store is the last statement. Requires linear accesses (lower_access).
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void licm(ir::Module& module);

}  // namespace unisono::passes
