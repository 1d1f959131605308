// Who owns the elements of a box of an array, by the formulas of its layout: one-sided access finds
// the ranks that it needs without a table of all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/steps.h"

namespace unisono::comm {

/// Indices of an axis that follow each other in a rank's part, and where the first lies there.
struct OwnedRun {
    std::int64_t begin, end, place;
};

/// What a rank has of a box.
struct Owned {
    int rank;
    std::vector<std::int64_t> shape;          ///< of its whole part
    std::vector<std::vector<OwnedRun>> runs;  ///< along each axis, within the box
};

/// The ranks, of so many, that have some of a box of an array of that shape, and what.
std::vector<Owned> owners_of(const Held& held, Dims shape, const Box& box, int ranks);

}  // namespace unisono::comm
