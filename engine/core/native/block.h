// Counted memory of arrays that compiled functions make: shared by the array variables that point
// to it, taken over by a storage where it is returned.
#pragma once

#include <atomic>
#include <cstdint>

namespace unisono {

/// Compiled code reads `data`; everything else goes through the functions below.
struct Block {
    void* data;  ///< of the pool, 64-byte aligned
    std::int64_t bytes;
    std::atomic<std::int64_t> refs{1};
    void (*drop)(Block*) = nullptr;  ///< ends it instead, with the last reference
};

/// Memory with one reference, not cleared; null where there is none or bytes is negative.
Block* make_block(std::int64_t bytes) noexcept;
void retain_block(Block* block) noexcept;   ///< null is nothing
void release_block(Block* block) noexcept;  ///< null is nothing
/// Frees the memory of a block without references.
void free_block(Block* block) noexcept;
/// Gives up one reference to a block whose memory the caller has taken over.
void forget_block(Block* block) noexcept;

}  // namespace unisono
