// Counters of what a context did: tests assert on them, un.stats() shows them.
#pragma once

#include <atomic>
#include <cstdint>

namespace unisono {

struct Counters {
    std::atomic<std::int64_t> kernels_launched{0};
    std::atomic<std::int64_t> kernels_compiled{0};
    /// Of kernels on devices, without tests of indices: the launch's numbers showed that all are in
    /// range.
    std::atomic<std::int64_t> launches_proven{0};
    std::atomic<std::int64_t> bytes_allocated{
        0};  ///< handed out by the pools, reused memory included
    std::atomic<std::int64_t> bytes_copied{
        0};  ///< between host and devices, and by conversions that copy
    std::atomic<std::int64_t> bytes_read{0};  ///< by kernels, as their access count says
    std::atomic<std::int64_t> bytes_written{0};
    std::atomic<std::int64_t> flushes{0};
    std::atomic<std::int64_t> plans_formed{0};
    std::atomic<std::int64_t> messages_sent{0};
    std::atomic<std::int64_t> flushes_that_waited{0};  ///< for a segment of another thread
};

/// By the thread that holds the engine; others may read meanwhile.
inline void count(std::atomic<std::int64_t>& counter, std::int64_t n = 1) {
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

/// By threads that may have let go of the engine, in counters of their own (Context::apart).
inline void count_apart(std::atomic<std::int64_t>& counter, std::int64_t n = 1) {
    counter.fetch_add(n, std::memory_order_relaxed);
}

}  // namespace unisono
