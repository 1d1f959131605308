// Elementwise groups on devices, where operands lie side by side along different axes.
//
// A tile of two axes goes through the memory of a group of work-items: neighbours read what is
// neighbouring in an input, and then compute what is neighbouring in the outputs.
#pragma once

#include "backends/backend.h"
#include "ir/ir.h"
#include "tape/plan/group.h"
#include "tape/run/lower_group.h"

namespace unisono {

struct IterationSpace;

/// Chooses tiles for a group that does not reduce, on a device whose work-items are no loops of
/// cores. Turns the space so that the first output lies side by side along its last axis.
void choose_tiles(const Group& group, IterationSpace& space, GroupShape& shape,
                  const DeviceInfo& device);

/// As lower_map, of a shape with tiles: a kernel for the range below.
ir::Module lower_transposed(const Group& group, const GroupShape& shape);

NDRange range_of_tiles(const IterationSpace& space, const GroupShape& shape);

}  // namespace unisono
