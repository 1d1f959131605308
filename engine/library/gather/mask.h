// Elements under a mask: counting, selecting, filling, and their places. Masks and elements are
// packed.
//
// A mask is cut into blocks of a fixed size; a first pass counts the true elements of each, a
// second one moves them, each block to where the counts before it end.
#pragma once

#include <cstdint>
#include <span>

#include "core/layout.h"
#include "primitives/gathering.h"

namespace unisono::library {

struct BlockCounts {
    std::int64_t size;                     ///< elements of the mask
    std::span<const std::int64_t> before;  ///< per block: true elements in earlier ones; last: all
    std::int64_t total() const { return before.back(); }
};
/// How many counts a mask of this size has.
constexpr std::size_t count_of_counts(std::int64_t size) {
    return static_cast<std::size_t>((size + primitives::mask_block - 1) / primitives::mask_block) +
           1;
}
/// Fills BlockCounts::before.
void count_mask(const std::uint8_t* mask, std::int64_t size, std::span<std::int64_t> before);

/// to[k] = from[position of the k-th true element].
void select(std::int64_t item_size, const BlockCounts& counts, const std::uint8_t* mask,
            const char* from, char* to);

/// to[position of the k-th true element] = from[k].
void fill(std::int64_t item_size, const BlockCounts& counts, const std::uint8_t* mask,
          const char* from, char* to);

/// Indices of the true elements of a mask of that shape: to[axis * total + k].
void places(const BlockCounts& counts, Dims shape, const std::uint8_t* mask, std::int64_t* to);

}  // namespace unisono::library
