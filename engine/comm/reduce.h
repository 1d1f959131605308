// Reductions along the axis that an array is split along.
#pragma once

#include "comm/mesh.h"
#include "comm/split.h"
#include "ops/ops.h"

namespace unisono::comm {

/// Combines by op along the split axis of an array of which `here` is this rank's part, in dtype t:
/// all ranks get the result, with the bits of one rank. Collective.
Array reduce_along(Mesh& mesh, Op op, const Array& here, const Split& split, DType t);

}  // namespace unisono::comm
