// Pass (host only): turns kernels into ordinary functions that loop over the NDRange.
// The body becomes one Group loop over all work-groups with Item loops over a group's work-items
// inside; work-item queries become arithmetic on hidden parameters (see lower.h). Barriers vanish:
// split_barriers.h cuts the body at them. Requires barriers in uniform control flow; a condition
// around a barrier that depends on the work-item is a Compile error. A return (no fault) ends the
// work-item.
#pragma once

#include "ir/build.h"

namespace unisono::passes {

void wrap_work_items(ir::Module& module);

}  // namespace unisono::passes
