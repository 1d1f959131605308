// What back ends with queues share of launches that were started: how many wait.
#pragma once

#include <cstdint>

#include "backends/backend.h"

namespace unisono {

/// A loop must not fill the driver's memory with kernels that wait.
class Backlog {
  public:
    /// Of the queue that the launch goes to.
    explicit Backlog(Queue& queue) : queue_(queue), seen_(queue.submitted()) {}
    /// Before each kernel.
    void limit() {
        constexpr std::uint64_t most = 512;
        if (queue_.submitted() < seen_ + most) return;
        seen_ = queue_.submitted() - most / 2;
        Completion{&queue_, seen_}.wait();
    }

  private:
    Queue& queue_;
    std::uint64_t seen_;  ///< a submission that is done, or was before
};

}  // namespace unisono
