// Reductions along the axis that an array is split along.
#pragma once

#include <vector>

#include "comm/mesh.h"
#include "comm/split.h"
#include "ops/ops.h"
#include "tape/array.h"

namespace unisono::comm {

/// As unisono::reduce of a part of an array: in the order of the innermost axis, or of others,
/// whichever the last of the axes is in the whole array.
Array reduce_part(Op op, const Array& part, std::vector<int> axes, bool is_innermost, DType t);

/// Combines by op along the split axis of an array of which `here` is this rank's part, in dtype t:
/// all ranks (those along that side of a grid) get the result, with the bits of one rank.
/// `is_innermost`: nothing lies behind that axis in the whole array. Collective.
Array reduce_along(Mesh& mesh, Op op, const Array& here, const Split& split, bool is_innermost,
                   DType t);

}  // namespace unisono::comm
