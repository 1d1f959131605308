// Moves blocks of elements between a table and packed rows, by positions: gather and scatter.
//
// Position i belongs to row i; a block (the axes that the index leaves whole) is copied for each.
// Positions are checked before (check_index), so the loops only move memory. Elements move by their
// size, whatever their dtype.
#pragma once

#include <cstdint>

#include "primitives/gathering.h"

namespace unisono::library {

using primitives::BlockAxes;
using primitives::RowMap;

/// rows = table[positions]. Element size 1, 2, 4, 8 or 16 bytes. With `checked` (rows of one
/// element and no outer axes only) positions are tested against m.extent on the way; returns
/// whether all are in range. Rows are then incomplete where one is not.
bool gather(std::int64_t item_size, const RowMap& map, const std::int64_t* positions,
            const char* table, char* rows, bool checked = false);

/// table[positions] = rows; of equal positions the last one counts.
void scatter(std::int64_t item_size, const RowMap& map, const std::int64_t* positions, char* table,
             const char* rows);

struct IndexCheck {
    bool inside = true;     ///< all in [-extent, extent)
    bool negative = false;  ///< some below 0
};
IndexCheck check_index(const std::int64_t* index, std::int64_t count, std::int64_t extent);

/// Smallest and largest; count > 0.
struct IndexRange {
    std::int64_t low, high;
};
IndexRange index_range(const std::int64_t* index, std::int64_t count);

}  // namespace unisono::library
