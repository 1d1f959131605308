// What back ends with queues share of launches that were started: their faults, and how many wait.
#pragma once

#include <memory>
#include <utility>

#include "backends/backend.h"

namespace unisono {

/// Of a launch whose faults are records of the back end, which the queue keeps until they are
/// copied; null where nothing can go wrong any more.
template <class Faults>
std::unique_ptr<PendingFault> pending_fault(std::shared_ptr<const Faults> faults) {
    class Pending final : public PendingFault {
      public:
        explicit Pending(std::shared_ptr<const Faults> faults) : faults_(std::move(faults)) {}
        Fault read() const override { return faults_->read(); }

      private:
        std::shared_ptr<const Faults> faults_;
    };
    if (!faults) return nullptr;
    return std::make_unique<Pending>(std::move(faults));
}

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
