// Device memory that belongs to one launch: fault records, results, scratch.
//
// Executables hold no state of a launch, so that several threads may launch the same one at once.
// Blocks that are given back are kept. On a queue in order a block may be taken again while kernels
// that use it are still queued: the queue runs what uses it next after them.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "core/threads/fork.h"

namespace unisono {

class LaunchMemory {
  public:
    /// Of launches on that queue.
    LaunchMemory(Device& device, Queue& queue) : device_(device), queue_(queue) {}
    // Blocks are never freed: at exit the driver may be gone before us.

    class Block {
      public:
        Block() = default;
        Block(LaunchMemory& owner, Memory memory) : owner_(&owner), memory_(memory) {}
        Block(Block&& o) noexcept : owner_(std::exchange(o.owner_, nullptr)), memory_(o.memory_) {}
        Block& operator=(Block&& o) noexcept {
            std::swap(owner_, o.owner_);
            std::swap(memory_, o.memory_);
            return *this;
        }
        ~Block() {
            if (owner_) owner_->give_back(memory_);
        }
        explicit operator bool() const { return owner_ != nullptr; }
        Memory memory() const { return memory_; }

      private:
        LaunchMemory* owner_ = nullptr;
        Memory memory_;
    };

    /// At least that many bytes; what they hold is undefined.
    Block take(std::int64_t bytes) {
        std::int64_t size = 64;
        while (size < bytes) size *= 2;
        {
            std::lock_guard lock(mutex_);
            while (!used_.empty() && used_.front().completion.is_done()) {
                keep(used_.front().memory);
                used_.pop_front();
            }
            std::vector<Memory>& kept = free_[size];
            if (!kept.empty()) {
                const Memory memory = kept.back();
                kept.pop_back();
                return {*this, memory};
            }
        }
        return {*this, device_.allocate(size)};
    }

  private:
    struct Used {
        Memory memory;
        Completion completion;
    };
    void keep(Memory memory) { free_[memory.bytes].push_back(memory); }
    void give_back(Memory memory) noexcept {
        std::lock_guard lock(mutex_);
        if (queue_.options().in_order) return keep(memory);
        used_.push_back({memory, {&queue_, queue_.submitted()}});
    }

    Device& device_;
    Queue& queue_;
    ProcessMutex mutex_;
    std::map<std::int64_t, std::vector<Memory>> free_;  ///< by size
    std::deque<Used> used_;  ///< of a queue out of order: until what was submitted is done
};

}  // namespace unisono
