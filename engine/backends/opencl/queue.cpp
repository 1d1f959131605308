// Polls the events of submissions, or waits to be told by the driver.
#include "backends/opencl/queue.h"

#include <condition_variable>
#include <memory>

namespace unisono::opencl {

namespace {

bool is_done(cl_event event) {
    cl_int status = CL_COMPLETE;
    api().clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    return status <= CL_COMPLETE;  // negative: it failed
}

/// What a thread of the driver tells one that waits; it lives until both have let go.
struct Signal {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
};

void CL_CALLBACK tell(cl_event, cl_int, void* data) {
    std::unique_ptr<std::shared_ptr<Signal>> signal(static_cast<std::shared_ptr<Signal>*>(data));
    std::lock_guard lock((*signal)->mutex);
    (*signal)->done = true;
    (*signal)->changed.notify_all();
}

}  // namespace

void OpenCLQueue::note(cl_event event) {
    std::lock_guard lock(mutex_);
    drop_passed();
    events_.push_back(event);
    ++submitted_;
}

/// Events end in order.
void OpenCLQueue::drop_passed() {
    while (!events_.empty() && is_done(events_.front())) {
        api().clReleaseEvent(events_.front());
        events_.pop_front();
    }
}

std::uint64_t OpenCLQueue::submitted() {
    std::lock_guard lock(mutex_);
    return submitted_;
}

bool OpenCLQueue::has_passed(std::uint64_t number) {
    if (!device_.is_usable()) return false;
    std::lock_guard lock(mutex_);
    drop_passed();
    return number + events_.size() <= submitted_;
}

bool OpenCLQueue::wait_for(std::uint64_t number, std::chrono::milliseconds most) {
    device_.require_usable();
    cl_event event = nullptr;
    {
        std::lock_guard lock(mutex_);
        drop_passed();
        if (number + events_.size() <= submitted_) return true;
        event = events_[static_cast<std::size_t>(number + events_.size() - submitted_ - 1)];
        api().clRetainEvent(event);
    }
    api().clFlush(queue_);
    auto signal = std::make_shared<Signal>();
    auto data = std::make_unique<std::shared_ptr<Signal>>(signal);
    const cl_int code = api().clSetEventCallback(event, CL_COMPLETE, tell, data.get());
    if (code == CL_SUCCESS) {
        static_cast<void>(data.release());  // tell() owns it
        std::unique_lock lock(signal->mutex);
        signal->changed.wait_for(lock, most, [&] { return signal->done; });
    } else {
        api().clWaitForEvents(1, &event);
    }
    const bool done = is_done(event);
    api().clReleaseEvent(event);
    return done;
}

}  // namespace unisono::opencl
