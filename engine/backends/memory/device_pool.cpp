// Keeps blocks of device memory for reuse, and counts what is in use.
#include "backends/memory/device_pool.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "backends/backend.h"
#include "core/error.h"
#include "core/pool.h"

namespace unisono {

namespace {

/// A block of up to that size is taken for so many bytes.
std::int64_t largest_fit(std::int64_t bytes) {
    return bytes + std::max<std::int64_t>(bytes / 4, 4096);
}

/// What the calling thread gave the device last.
Completion last_of(Device& device) {
    if (QueueScope* scope = QueueScope::of(device)) {
        if (scope->last().queue) return scope->last();
    }
    return Completion::of_all(device.queue());
}

bool is_in_order(const Completion& c, const Queue* queue) {
    return c.queue == queue && c.queue->options().in_order;
}

}  // namespace

Memory DevicePool::take(std::int64_t bytes, std::vector<Completion>& after) {
    Memory taken;
    bool is_full = false;
    {
        std::lock_guard lock(mutex_);
        if (take_kept(bytes, false, taken, after)) return note(taken, 0);
        is_full = !fits(bytes);
        if (is_full && take_kept(bytes, true, taken, after)) return note(taken, 0);
    }
    if (is_full) {
        trim();
        std::lock_guard lock(mutex_);
        if (!fits(bytes)) fail_to_fit(bytes);
    }
    try {
        taken = device_.allocate(bytes);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::Memory) throw;
        trim();
        device_.synchronize();  // the driver frees what work still used
        taken = device_.allocate(bytes);
    }
    std::lock_guard lock(mutex_);
    return note(taken, taken.bytes);
}

Memory DevicePool::take(std::int64_t bytes) {
    std::vector<Completion> after;
    const Memory taken = take(bytes, after);
    for (const Completion& c : after) {
        if (Queue* queue = device_.queue(); !is_in_order(c, queue)) queue->wait_on(c);
    }
    return taken;
}

/// Whether what the calling thread's queue does next comes behind what uses the block.
bool DevicePool::comes_behind(const Kept& kept) const {
    const Queue* queue = device_.queue();
    return std::all_of(kept.users.begin(), kept.users.end(),
                       [&](const Completion& c) { return is_in_order(c, queue) || c.is_done(); });
}

bool DevicePool::take_kept(std::int64_t bytes, bool may_wait, Memory& taken,
                           std::vector<Completion>& after) {
    auto block = kept_.lower_bound(bytes);
    const auto end = kept_.upper_bound(largest_fit(bytes));
    while (block != end && !may_wait && !comes_behind(block->second)) ++block;
    if (block == end) return false;
    taken = {block->second.handle, block->first};
    after = std::move(block->second.users);
    std::erase_if(after, [](const Completion& c) { return c.is_done(); });
    usage_.cached -= taken.bytes;
    kept_.erase(block);
    return true;
}

std::int64_t DevicePool::limit() const {
    if (const std::int64_t set = limit_.load(std::memory_order_relaxed)) return set;
    const std::int64_t memory = device_.info().memory_bytes;
    return memory > 0 ? memory : std::numeric_limits<std::int64_t>::max();
}

bool DevicePool::fits(std::int64_t bytes) const {
    return usage_.in_use + usage_.cached + bytes <= limit();
}

Memory DevicePool::note(const Memory& taken, std::int64_t fresh) {
    usage_.total += fresh;
    usage_.in_use += taken.bytes;
    usage_.peak = std::max(usage_.peak, usage_.in_use);
    return taken;
}

void DevicePool::fail_to_fit(std::int64_t bytes) const {
    fail(ErrorKind::Memory, "device '" + device_.info().name + "': an array of " +
                                pool::megabytes(bytes) + " does not fit; in use " +
                                pool::megabytes(usage_.in_use) + ", limit " +
                                pool::megabytes(limit()) +
                                "; delete arrays, use a smaller dtype, or raise the limit "
                                "(unisono.memory.set_limit)");
}

void DevicePool::give(const Memory& memory, std::vector<Completion> users) noexcept {
    std::erase_if(users, [](const Completion& c) { return c.is_done(); });
    {
        std::lock_guard lock(mutex_);
        // A quarter of the memory may be kept; the host has a pool of its own.
        const bool may_keep = device_.is_usable() && !device_.info().host_memory;
        if (may_keep && usage_.cached + memory.bytes <= limit() / 4) {
            usage_.in_use -= memory.bytes;
            usage_.cached += memory.bytes;
            // The latest comes first: a loop goes on with few addresses, which its graphs know.
            kept_.emplace_hint(kept_.lower_bound(memory.bytes), memory.bytes,
                               Kept{memory.handle, std::move(users)});
            return;
        }
    }
    give_to_driver(memory);
}

void DevicePool::give(const Memory& memory) noexcept { give(memory, {last_of(device_)}); }

void DevicePool::give_to_driver(const Memory& memory) noexcept {
    {
        std::lock_guard lock(mutex_);
        usage_.in_use -= memory.bytes;
    }
    device_.free(memory);
}

void DevicePool::trim() noexcept {
    Blocks given;
    {
        std::lock_guard lock(mutex_);
        given.swap(kept_);
        usage_.cached = 0;
    }
    for (const auto& [bytes, block] : given) device_.free({block.handle, bytes});
}

DevicePool::Usage DevicePool::usage() const {
    std::lock_guard lock(mutex_);
    Usage now = usage_;
    now.limit = limit();
    return now;
}

}  // namespace unisono
