// Memory of a call of LAPACK that may be abandoned: its routine then runs on after the call has
// returned, and no array may hold what it reads and writes.
#pragma once

#include <cstdint>
#include <cstring>
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

    /// A block of its own; `result`, if any, gets its contents once the call has succeeded.
    void* allocate(std::int64_t bytes, const View* result) {
        bytes = bytes > 0 ? bytes : 1;
        blocks_.reserve(blocks_.size() + 1);
        blocks_.push_back({pool::allocate(bytes), bytes, result ? *result : View{}});
        return blocks_.back().data;
    }
    /// The routine has ended. A result that is a whole storage takes the block as its memory.
    void hand_over() {
        for (Block& b : blocks_) {
            Storage* const s = b.result.storage;
            if (!s) continue;
            const std::int64_t bytes = b.result.layout->size() * size_of(b.result.dtype);
            if (bytes > Storage::inline_bytes && s->memory.bytes == b.bytes &&
                b.result.offset == 0 && !s->borrowed && !s->shared_outside()) {
                void* const before = s->data();
                s->memory.handle = reinterpret_cast<std::uintptr_t>(b.data);
                b.data = before;
            } else {
                std::memcpy(b.result.data(), b.data, static_cast<std::size_t>(bytes));
            }
        }
    }

  private:
    struct Block {
        void* data;
        std::int64_t bytes;
        View result;  ///< of no storage: none
    };
    std::vector<Block> blocks_;
};

}  // namespace unisono::library
