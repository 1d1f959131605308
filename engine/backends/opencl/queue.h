// A queue of an OpenCL device, whose submissions are numbered.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/backend.h"
#include "backends/memory/launch_memory.h"
#include "backends/opencl/api.h"
#include "backends/passing_polls.h"
#include "backends/segment_scope.h"

namespace unisono::opencl {

class OpenCLDevice;

class OpenCLQueue final : public Queue, public HoldingQueue {
  public:
    OpenCLQueue(OpenCLDevice& device, cl_command_queue queue, QueueOptions options);

    cl_command_queue handle() const { return queue_; }
    /// Enqueues what f(number of events, events to wait for, event) does with the driver: behind
    /// what the thread's QueueScope says. Where f gives no event, it enqueued nothing.
    template <class F>
    void submit(const char* call, F&& f) {
        Waits before(*this);
        std::lock_guard order(order_);
        cl_event event = nullptr;
        check(f(before.count(), before.events(), &event), call);
        if (event) note(event);
    }
    /// The same of a kernel. On a queue in order, of many that follow each other few have events:
    /// f is given null where that of a later submission will do.
    template <class F>
    void submit_kernel(const char* call, F&& f) {
        Waits before(*this);
        std::lock_guard order(order_);
        cl_event event = nullptr;
        check(f(before.count(), before.events(), needs_event() ? &event : nullptr), call);
        note(event);
    }
    /// Waits until a command of the calling thread could begin, on a queue in order.
    void wait_here();
    /// Keeps an object until all that was submitted so far is done.
    void keep(std::shared_ptr<const void> object);
    /// Has the driver begin what it was given: at once, or where the thread runs a segment, at its
    /// end or once somebody waits.
    void flush();
    void hand_over() override;
    /// Of the launches on this queue.
    LaunchMemory& launch_memory() { return launch_memory_; }

    Device& device() override;
    QueueOptions options() const override { return options_; }
    std::uint64_t submitted() override;
    bool has_passed(std::uint64_t number) override;
    bool wait_for(std::uint64_t number, std::chrono::milliseconds most) override;
    std::uint64_t mark() override;
    void wait_on(const Completion& c) override;
    std::uint64_t fence() override { return enqueue_marker(nullptr); }
    std::uint64_t record() override;
    QueueTimes times(std::uint64_t number) override;
    void forget_times(std::uint64_t number) override;

  private:
    /// The events that the next command of the calling thread waits for.
    class Waits {
      public:
        explicit Waits(const OpenCLQueue& queue);
        ~Waits();
        Waits(const Waits&) = delete;
        Waits& operator=(const Waits&) = delete;
        cl_uint count() const { return static_cast<cl_uint>(events_.size()); }
        const cl_event* events() const { return events_.empty() ? nullptr : events_.data(); }

      private:
        std::vector<cl_event> events_;
    };
    /// Commands since a record, and that record.
    struct Recorded {
        cl_event first = nullptr, mark = nullptr;
    };

    void check(cl_int code, const char* call) const;
    /// Whether the next kernel does; the thread holds order_.
    bool needs_event();
    void note(cl_event event);
    void drop_passed();
    void drop(std::size_t count);
    /// The caller's; null where the submission was seen to be done. A marker is enqueued where none
    /// tells of it.
    cl_event event_of(std::uint64_t number);
    /// Of a submission that was not seen to be done: the first that tells of it, which may be null.
    cl_event known_event_of(std::uint64_t number) const;
    /// Adds those that are not done of what a number of mark() stands for; the caller's.
    void events_of(std::uint64_t number, std::vector<cl_event>& out);
    /// The same of the first one; null where all are done.
    cl_event first_event_of(std::uint64_t number);
    bool waits_for_first(std::uint64_t number, std::chrono::milliseconds most);
    std::uint64_t enqueue_marker(cl_event* marker);

    OpenCLDevice& device_;
    cl_command_queue queue_;  ///< never released: at exit the driver may be gone before us
    const QueueOptions options_;
    LaunchMemory launch_memory_;
    std::mutex order_;  ///< numbers are in the order of the driver's
    std::mutex mutex_;  ///< of what follows
    /// From the first submission that was not seen to be done on; null where it has none.
    std::deque<cl_event> events_;
    std::uint64_t submitted_ = 0;            ///< the last one in events_; changes under order_, too
    std::uint64_t told_ = 0;                 ///< the last one that has an event; of order_
    std::atomic<std::uint64_t> passed_ = 0;  ///< the last one that is not in events_
    PassingPolls passing_;
    std::deque<std::pair<std::uint64_t, std::shared_ptr<const void>>> kept_;
    cl_event first_ = nullptr;  ///< since the last record, where the queue profiles
    std::map<std::uint64_t, Recorded> recorded_;
};

}  // namespace unisono::opencl
