// Pass: makes the reductions of parallel loops explicit, with an order that no thread count
// changes. A parallel loop of n iterations that declares reductions becomes: a parallel loop over
// chunks of ceil(n / 256) consecutive iterations, each combined in order into a partial of its own
// that starts from the identity (for float sums -0.0, the value that changes no sum, not even that
// of negative zeros); then a serial loop that combines the partials in chunk order into the
// variable. A vector loop with reductions becomes a serial loop. Afterwards no loop declares
// reductions.
#pragma once

#include "ir/build.h"

namespace unisono::passes {

inline constexpr std::int64_t max_reduction_chunks = 256;

void reductions(ir::Module& module);

}  // namespace unisono::passes
