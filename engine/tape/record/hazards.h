// Hazards: how two views of one storage relate, which decides what may fuse and what must be cut.
#pragma once

#include "tape/storage.h"

namespace unisono {

enum class Overlap : std::uint8_t {
    Disjoint,  ///< no element in common
    Same,      ///< equal index maps: point i of one is point i of the other, and of no other point
    Partial,   ///< may share elements at different points
};

/// Relation of two views; exact for rectangular windows of one row-major array and for interleaved
/// steps, Partial when in doubt. Views of different storages are Disjoint.
Overlap overlap(const View& a, const View& b);

/// Whether two points of the view share an element (a stride of 0, as made by broadcasting).
bool overlaps_itself(const View& v);

}  // namespace unisono
