// Pass (host only): turns kernels into ordinary functions that loop over the NDRange.
// The body becomes one Group loop over all work-groups with Item loops over a group's work-items
// inside; work-item queries become arithmetic on hidden parameters (see lower.h). Barriers vanish:
// split_barriers.h cuts the body at them. Requires barriers in uniform control flow; a condition
// around a barrier that depends on the work-item is a Compile error. A return (no fault) ends the
// work-item.
//
// cut_at_grid_barriers, for devices: the same for a kernel with a barrier of all work-items of its
// launch, which is one group. Devices do not run them all at once: what stands between barriers
// becomes parallel loops, thus kernels of their own (map_to_grid). Values that live across a
// barrier lie in memory that the launch makes. Other kernels are left as they are.
#pragma once

#include "ir/build.h"

namespace unisono::passes {

void wrap_work_items(ir::Module& module);
/// How many axes of the range became hidden parameters; 0 where the entry has no such barrier.
int cut_at_grid_barriers(ir::Module& module);

}  // namespace unisono::passes
