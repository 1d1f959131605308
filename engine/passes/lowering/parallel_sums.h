// Pass: makes parallel reductions of serial sums that may be added in another order.
//
// Contract. A serial loop by 1 with For::any_order that no independent loop surrounds, and that
// does nothing but add to variables (`dot = dot + a[k] * b[k]`), becomes a parallel loop that
// declares these reductions. For devices: the host keeps such loops, whose lanes are enough.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void parallel_sums(ir::Module& module);

}  // namespace unisono::passes
