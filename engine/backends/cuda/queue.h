// The default stream of a CUDA context, whose submissions are numbered.
#pragma once

#include <atomic>
#include <mutex>

#include "backends/queue.h"

namespace unisono::cuda {

class CudaDevice;

/// The driver tells whether all that was submitted is done; of a single submission only that it was
/// done when all were.
class CudaQueue final : public Queue {
  public:
    explicit CudaQueue(CudaDevice& device) : device_(device) {}
    /// Something was just submitted.
    void note() { submitted_.fetch_add(1, std::memory_order_relaxed); }

    unisono::Device& device() override;
    std::uint64_t submitted() override { return submitted_.load(std::memory_order_relaxed); }
    bool has_passed(std::uint64_t number) override;
    bool wait_for(std::uint64_t number, std::chrono::milliseconds most) override;

  private:
    CudaDevice& device_;
    std::atomic<std::uint64_t> submitted_ = 0;
    std::atomic<std::uint64_t> passed_ = 0;
};

}  // namespace unisono::cuda
