// The memory of a device: what arrays use, and blocks that are kept for reuse.
//
// A block that is given back may still be used by work that was submitted: who takes it again is
// told what to wait for on the device. Blocks that the calling thread's queue can use at once come
// first, the latest before others.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

#include "backends/queue.h"
#include "core/threads/fork.h"

namespace unisono {

class Device;
struct Memory;

class DevicePool {
  public:
    explicit DevicePool(Device& device) : device_(device) {}

    /// At least that many bytes, with anything in them; who uses them has to come behind `after`.
    /// All that is kept is given back before it throws a Memory error.
    Memory take(std::int64_t bytes, std::vector<Completion>& after);
    /// For what the calling thread submits next, which comes behind that.
    Memory take(std::int64_t bytes);
    /// Gives back what `users` may still use.
    void give(const Memory& memory, std::vector<Completion> users) noexcept;
    /// The same of what the calling thread has submitted work on.
    void give(const Memory& memory) noexcept;
    /// Not for reuse, since others may know the memory.
    void give_to_driver(const Memory& memory) noexcept;

    /// Gives what is kept to the driver.
    void trim() noexcept;
    /// Most bytes that may be in use; 0: the device's memory.
    void set_limit(std::int64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
    std::int64_t limit() const;

    /// Bytes: in use now and at most, kept, newly taken from the driver since the start.
    struct Usage {
        std::int64_t in_use = 0, peak = 0, cached = 0, total = 0, limit = 0;
    };
    Usage usage() const;

  private:
    struct Kept {
        std::uintptr_t handle;
        std::vector<Completion> users;
    };
    using Blocks = std::multimap<std::int64_t, Kept>;  ///< by size

    bool comes_behind(const Kept& kept) const;
    bool take_kept(std::int64_t bytes, bool may_wait, Memory& taken,
                   std::vector<Completion>& after);
    bool fits(std::int64_t bytes) const;
    Memory note(const Memory& taken, std::int64_t fresh);
    [[noreturn]] void fail_to_fit(std::int64_t bytes) const;

    Device& device_;
    mutable ProcessMutex mutex_;
    Blocks kept_;
    Usage usage_;
    std::atomic<std::int64_t> limit_ = 0;
};

}  // namespace unisono
