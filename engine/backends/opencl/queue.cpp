// Polls the events of submissions, or waits to be told by the driver.
#include "backends/opencl/queue.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>
#include <utility>

#include "backends/opencl/device.h"
#include "core/error.h"

namespace unisono::opencl {

namespace {

/// In a number that mark() gave, of a queue that is not in order: of all submissions up to it. A
/// marker would be a submission whose number tells the same, but drivers wait for all before it one
/// by one, and again for each marker.
constexpr std::uint64_t all_before = std::uint64_t{1} << 63;

bool is_done(cl_event event) {
    cl_int status = CL_COMPLETE;
    api().clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    return status <= CL_COMPLETE;  // negative: it failed
}

/// For a while a waiting thread asks by itself, and lets others run meanwhile: being told goes by
/// way of a thread of the driver, which takes as long as a small kernel.
bool ends_soon(cl_event event) {
    constexpr std::chrono::microseconds most{50};
    const auto end = std::chrono::steady_clock::now() + most;
    while (!is_done(event)) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
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

/// Waits for the event, but no longer than `most`; returns whether it is done.
bool waits_for(cl_event event, std::chrono::milliseconds most) {
    auto signal = std::make_shared<Signal>();
    auto data = std::make_unique<std::shared_ptr<Signal>>(signal);
    if (api().clSetEventCallback(event, CL_COMPLETE, tell, data.get()) == CL_SUCCESS) {
        static_cast<void>(data.release());  // tell() owns it
        std::unique_lock lock(signal->mutex);
        signal->changed.wait_for(lock, most, [&] { return signal->done; });
    } else {
        api().clWaitForEvents(1, &event);
    }
    return is_done(event);
}

}  // namespace

OpenCLQueue::OpenCLQueue(OpenCLDevice& device, cl_command_queue queue, QueueOptions options)
    : device_(device), queue_(queue), options_(options), launch_memory_(device, *this) {}

Device& OpenCLQueue::device() { return device_; }

void OpenCLQueue::check(cl_int code, const char* call) const { device_.check(code, call); }

OpenCLQueue::Waits::Waits(const OpenCLQueue& queue) {
    const QueueScope* scope = QueueScope::of(queue.device_);
    if (!scope || &scope->queue() != &queue) return;
    for (const Completion& c : scope->after()) {
        if (c.queue == &queue && queue.options_.in_order) continue;
        static_cast<OpenCLQueue*>(c.queue)->events_of(c.number, events_);
    }
}

OpenCLQueue::Waits::~Waits() {
    for (cl_event event : events_) api().clReleaseEvent(event);
}

cl_event OpenCLQueue::event_of(std::uint64_t number) {
    cl_event event = nullptr;
    {
        std::lock_guard lock(mutex_);
        if (number + events_.size() <= submitted_) return nullptr;
        event = known_event_of(number);
        if (event) api().clRetainEvent(event);
    }
    if (!event) enqueue_marker(&event);
    // What another queue waits for must be on its way.
    if (!is_done(event)) hand_over();
    return event;
}

cl_event OpenCLQueue::known_event_of(std::uint64_t number) const {
    const auto of = events_.end() - static_cast<std::ptrdiff_t>(submitted_ - number + 1);
    const auto found = std::find_if(of, events_.end(), [](cl_event e) { return e != nullptr; });
    return found == events_.end() ? nullptr : *found;
}

void OpenCLQueue::events_of(std::uint64_t number, std::vector<cl_event>& out) {
    if (!(number & all_before)) {
        if (cl_event event = event_of(number)) out.push_back(event);
        return;
    }
    {
        std::lock_guard lock(mutex_);
        drop_passed();
        const std::uint64_t done = submitted_ - events_.size(), last = number & ~all_before;
        for (std::uint64_t k = done; k < last; ++k) {
            out.push_back(events_[static_cast<std::size_t>(k - done)]);
            api().clRetainEvent(out.back());
        }
    }
    hand_over();
}

cl_event OpenCLQueue::first_event_of(std::uint64_t number) {
    std::lock_guard lock(mutex_);
    drop_passed();
    if ((number & ~all_before) + events_.size() <= submitted_) return nullptr;
    api().clRetainEvent(events_.front());
    return events_.front();
}

/// An event costs the thread that submits as much as a third of the submission: its memory comes
/// back from the driver's threads. A kernel alone has one, since somebody may wait for it.
bool OpenCLQueue::needs_event() {
    constexpr std::uint64_t kernels_an_event = 16;
    if (!options_.in_order || options_.profiling || submitted_ - told_ >= kernels_an_event)
        return true;
    if (told_ == submitted_) {  // a copy that was waited for, maybe
        std::lock_guard lock(mutex_);
        drop_passed();
    }
    return passed_.load(std::memory_order_relaxed) == submitted_;
}

void OpenCLQueue::note(cl_event event) {
    std::uint64_t number = 0;
    {
        std::lock_guard lock(mutex_);
        events_.push_back(event);
        number = ++submitted_;
        if (event) told_ = number;
        if (passing_.ask(submitted_)) drop_passed();
        if (options_.profiling && !first_) {
            api().clRetainEvent(event);
            first_ = event;
        }
    }
    QueueScope* scope = QueueScope::of(device_);
    if (scope && &scope->queue() == this) scope->advance(number);
}

void OpenCLQueue::flush() {
    if (SegmentScope* segment = SegmentScope::current())
        segment->add(*this);
    else
        hand_over();
}

void OpenCLQueue::hand_over() { check(api().clFlush(queue_), "clFlush"); }

void OpenCLQueue::keep(std::shared_ptr<const void> object) {
    std::lock_guard lock(mutex_);
    kept_.emplace_back(submitted_, std::move(object));
}

/// In order or not, what is dropped is done and nothing before it is left.
void OpenCLQueue::drop_passed() {
    std::size_t passed = 0;
    for (std::size_t k = 0; k < events_.size(); ++k) {
        if (!events_[k]) continue;
        if (!is_done(events_[k])) break;
        passed = k + 1;
    }
    drop(passed);
}

/// That many submissions are done.
void OpenCLQueue::drop(std::size_t count) {
    for (; count > 0; --count) {
        if (events_.front()) api().clReleaseEvent(events_.front());
        events_.pop_front();
    }
    passed_.store(submitted_ - events_.size(), std::memory_order_release);
    while (!kept_.empty() && kept_.front().first + events_.size() <= submitted_) kept_.pop_front();
}

std::uint64_t OpenCLQueue::submitted() {
    std::lock_guard lock(mutex_);
    return submitted_;
}

bool OpenCLQueue::has_passed(std::uint64_t number) {
    if (!device_.is_usable()) return false;
    if (number <= passed_.load(std::memory_order_acquire)) return true;
    {
        std::lock_guard lock(mutex_);
        if (number & all_before) {
            drop_passed();
            return (number & ~all_before) + events_.size() <= submitted_;
        }
        if (number + events_.size() <= submitted_) return true;
        if (options_.in_order && !passing_.ask(number, submitted_)) return false;
        drop_passed();
        if (number + events_.size() <= submitted_) return true;
        const cl_event event = known_event_of(number);
        if (event) return !options_.in_order && is_done(event);
    }
    try {
        enqueue_marker(nullptr);  // which tells when it is asked for next
    } catch (const Error&) {      // the device was just lost
    }
    return false;
}

bool OpenCLQueue::wait_for(std::uint64_t number, std::chrono::milliseconds most) {
    device_.require_usable();
    if (number & all_before) return waits_for_first(number, most);
    cl_event event = event_of(number);
    if (!event) return true;
    const bool done =
        most.count() == 0 ? is_done(event) : ends_soon(event) || waits_for(event, most);
    api().clReleaseEvent(event);
    if (!done) return false;
    std::lock_guard lock(mutex_);
    if (!options_.in_order)
        drop_passed();
    else if (number + events_.size() > submitted_)
        drop(static_cast<std::size_t>(number + events_.size() - submitted_));
    return true;
}

/// Of all that the number stands for, one after the other.
bool OpenCLQueue::waits_for_first(std::uint64_t number, std::chrono::milliseconds most) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + most;
    hand_over();
    while (cl_event event = first_event_of(number)) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        const bool done =
            left.count() <= 0 ? is_done(event) : ends_soon(event) || waits_for(event, left);
        api().clReleaseEvent(event);
        if (!done) return false;
    }
    return true;
}

/// Waits for all that the queue was given so far, in order or not.
std::uint64_t OpenCLQueue::enqueue_marker(cl_event* marker) {
    std::lock_guard order(order_);
    cl_event event = nullptr;
    check(api().clEnqueueMarkerWithWaitList(queue_, 0, nullptr, &event),
          "clEnqueueMarkerWithWaitList");
    if (marker) {
        api().clRetainEvent(event);
        *marker = event;
    }
    note(event);
    return submitted();
}

void OpenCLQueue::wait_on(const Completion& c) {
    if (!c.queue || (c.queue == this && options_.in_order) || c.is_done()) return;
    if (&c.queue->device() != &device_) return c.wait();  // events are known to their device alone
    QueueScope scope(*this, {c});
    submit("clEnqueueBarrierWithWaitList", [&](cl_uint n, const cl_event* after, cl_event* event) {
        return api().clEnqueueBarrierWithWaitList(queue_, n, after, event);
    });
}

void OpenCLQueue::wait_here() {
    const QueueScope* scope = QueueScope::of(device_);
    if (scope && &scope->queue() == this) {
        for (const Completion& c : scope->after()) c.wait();
        if (!options_.in_order) return;
    }
    Completion::of_all(this).wait();
}

std::uint64_t OpenCLQueue::mark() {
    device_.require_usable();
    return submitted() | (options_.in_order ? 0 : all_before);
}

std::uint64_t OpenCLQueue::record() {
    device_.require_usable();
    if (!options_.profiling) return mark();
    Recorded made;
    const std::uint64_t number = enqueue_marker(&made.mark);
    api().clFlush(queue_);
    std::lock_guard lock(mutex_);
    made.first = std::exchange(first_, nullptr);
    recorded_[number] = made;
    return number;
}

QueueTimes OpenCLQueue::times(std::uint64_t number) {
    if (!options_.profiling) return Queue::times(number);
    std::lock_guard lock(mutex_);
    const Recorded& r = recorded_.at(number);
    auto read = [&](cl_event event, cl_profiling_info what) {
        cl_ulong ns = 0;
        check(api().clGetEventProfilingInfo(event, what, sizeof ns, &ns, nullptr),
              "clGetEventProfilingInfo");
        return static_cast<std::int64_t>(ns);
    };
    return {read(r.first, CL_PROFILING_COMMAND_QUEUED), read(r.first, CL_PROFILING_COMMAND_SUBMIT),
            read(r.first, CL_PROFILING_COMMAND_START), read(r.mark, CL_PROFILING_COMMAND_END)};
}

void OpenCLQueue::forget_times(std::uint64_t number) {
    std::lock_guard lock(mutex_);
    const auto found = recorded_.find(number);
    if (found == recorded_.end()) return;
    api().clReleaseEvent(found->second.first);
    api().clReleaseEvent(found->second.mark);
    recorded_.erase(found);
}

}  // namespace unisono::opencl
