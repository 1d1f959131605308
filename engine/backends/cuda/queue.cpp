// Polls the default stream.
#include "backends/cuda/queue.h"

#include <thread>

#include "backends/cuda/device.h"

namespace unisono::cuda {

unisono::Device& CudaQueue::device() { return device_; }

bool CudaQueue::has_passed(std::uint64_t number) {
    if (number <= passed_.load(std::memory_order_relaxed)) return true;
    const std::uint64_t all = submitted();
    device_.enter();
    const Result result = device_.api().stream_query(nullptr);
    if (result == not_ready) return false;
    device_.check(result, "cuStreamQuery");
    std::uint64_t before = passed_.load(std::memory_order_relaxed);
    while (before < all && !passed_.compare_exchange_weak(before, all, std::memory_order_relaxed)) {
    }
    return true;
}

/// The processor is free while a GPU computes: asking often costs nothing but its power, and asking
/// seldom would add to short kernels. The pauses grow with the time waited.
bool CudaQueue::wait_for(std::uint64_t number, std::chrono::milliseconds most) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    while (!has_passed(number)) {
        const auto waited = Clock::now() - begin;
        if (waited >= most) return false;
        if (waited > std::chrono::microseconds(50))
            std::this_thread::sleep_for(waited / 16);
        else
            std::this_thread::yield();
    }
    return true;
}

}  // namespace unisono::cuda
