// Lets entries that only a reshape keeps apart run over the same points.
#pragma once

#include <vector>

#include "tape/tape.h"

namespace unisono {

/// Whether entries of the segment run over as many points in different shapes.
bool has_reshapes(const std::vector<Entry>& segment);

/// Writes elementwise entries in the shape in which the memory that they pass on was written, or is
/// read: those on packed operands may run in any shape of their size. Drops axes of one element.
/// `epoch` and the two numbers after it are fresh, for marking storages.
void see_through_reshapes(std::vector<Entry>& segment, std::uint32_t epoch);

}  // namespace unisono
