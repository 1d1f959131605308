// An in-order OpenCL queue whose submissions are numbered.
#pragma once

#include <deque>
#include <mutex>

#include "backends/backend.h"
#include "backends/opencl/api.h"

namespace unisono::opencl {

class OpenCLQueue final : public Queue {
  public:
    OpenCLQueue(const Device& device, cl_command_queue queue) : device_(device), queue_(queue) {}

    cl_command_queue handle() const { return queue_; }
    /// Takes the event of a command that was just enqueued.
    void note(cl_event event);

    std::uint64_t submitted() override;
    bool has_passed(std::uint64_t number) override;
    bool wait_for(std::uint64_t number, std::chrono::milliseconds most) override;

  private:
    void drop_passed();

    const Device& device_;
    cl_command_queue queue_;  ///< never released: at exit the driver may be gone before us
    std::mutex mutex_;
    std::deque<cl_event> events_;  ///< of the submissions that were not seen to be done
    std::uint64_t submitted_ = 0;  ///< the last one in events_
};

}  // namespace unisono::opencl
