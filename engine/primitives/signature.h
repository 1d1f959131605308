// Which axes of a call are independent, from the signature of its row.
#pragma once

#include <vector>

#include "primitives/row.h"

namespace unisono::primitives {

/// The axes of one operand or result that belong to the loop, from the outermost: loop axis
/// `loops - axes.size() + k` is axis axes[k] of the array.
using LoopAxes = std::vector<int>;

struct Independence {
    int loops = 0;  ///< axes that the operands have before those that are computed together
    std::vector<LoopAxes> operands, results;
};

/// Of a call with operands of these ranks that gives results of those.
Independence independent_axes(const Primitive& row, const void* attributes,
                              std::span<const int> operands, std::span<const int> results);

}  // namespace unisono::primitives
