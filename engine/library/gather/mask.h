// Elements under a mask: counting, selecting, filling, and their places. Masks and elements are
// packed.
//
// A mask is cut into blocks of a fixed size; a first pass counts the true elements of each, a
// second one moves them, each block to where the counts before it end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/layout.h"

namespace unisono::library {

struct MaskCounts {
    std::int64_t size = 0;             ///< elements of the mask
    std::int64_t total = 0;            ///< true ones
    std::vector<std::int64_t> before;  ///< per block: true elements in earlier blocks; last: total
};
/// The same in somebody else's memory.
struct BlockCounts {
    std::int64_t size;
    std::span<const std::int64_t> before;
    BlockCounts(std::int64_t n, std::span<const std::int64_t> counts) : size(n), before(counts) {}
    BlockCounts(const MaskCounts& counts)  // NOLINT(google-explicit-constructor): refers to it
        : size(counts.size), before(counts.before) {}
};
MaskCounts count_mask(const std::uint8_t* mask, std::int64_t size);

/// to[k] = from[position of the k-th true element].
void select(std::int64_t item_size, const BlockCounts& counts, const std::uint8_t* mask,
            const char* from, char* to);

/// to[position of the k-th true element] = from[k].
void fill(std::int64_t item_size, const BlockCounts& counts, const std::uint8_t* mask,
          const char* from, char* to);

/// Indices of the true elements of a mask of that shape: to[axis * total + k].
void places(const MaskCounts& counts, Dims shape, const std::uint8_t* mask, std::int64_t* to);

}  // namespace unisono::library
