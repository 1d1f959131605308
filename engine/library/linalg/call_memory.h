// Memory of a call of LAPACK that may be abandoned: its routine then runs on after the call has
// returned, and no array may hold what it reads and writes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/pool.h"
#include "tape/storage.h"

namespace unisono::library {

class CallMemory {
  public:
    CallMemory() = default;
    CallMemory(const CallMemory&) = delete;
    CallMemory& operator=(const CallMemory&) = delete;
    /// On the thread that drops it last, with or without the engine.
    ~CallMemory() {
        for (const Block& b : blocks_) pool::free(b.data, b.bytes);
    }

    /// A block of its own; `target`, if any, has no memory yet and takes the block once the call
    /// has succeeded.
    void* allocate(std::int64_t bytes, Storage* target) {
        bytes = bytes > 0 ? bytes : 1;
        blocks_.reserve(blocks_.size() + 1);
        blocks_.push_back({pool::allocate(bytes), bytes, target});
        return blocks_.back().data;
    }
    /// Gives the targets their blocks. The routine has ended, and the engine is held.
    void hand_over() {
        for (Block& b : blocks_) {
            if (!b.target) continue;
            b.target->memory = {reinterpret_cast<std::uintptr_t>(b.data), b.bytes};
            b.data = nullptr;
        }
        std::erase_if(blocks_, [](const Block& b) { return !b.data; });
    }

  private:
    struct Block {
        void* data;
        std::int64_t bytes;
        Storage* target;
    };
    std::vector<Block> blocks_;
};

}  // namespace unisono::library
