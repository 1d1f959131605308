// Queues of devices: work in the order in which it was submitted, and when that is done.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace unisono {

class Device;
struct Completion;

struct QueueOptions {
    bool in_order = true;    ///< else what is submitted waits only for what it is told to wait for
    bool profiling = false;  ///< the device notes times
    bool operator==(const QueueOptions&) const = default;
};

/// Nanoseconds of the device's clock, of some work: when the first of it was queued, submitted to
/// the device and started, and when the last of it ended.
struct QueueTimes {
    std::int64_t queued = 0, submit = 0, start = 0, end = 0;
};

/// Runs what it is given, while the threads that submit go on. Safe to use from several threads at
/// once. A queue lives as long as the process.
class Queue {
  public:
    virtual ~Queue() = default;
    virtual Device& device() = 0;
    virtual QueueOptions options() const { return {}; }
    /// Whether what it is given in segments (segment_scope.h) costs less than one by one.
    virtual bool prefers_segments() const { return false; }
    /// Number of the last submission; the first has 1.
    virtual std::uint64_t submitted() = 0;
    /// Whether that submission is known to be done, and of a queue in order all before it. Returns
    /// at once, and need not ask the driver: wait_for() of no time does.
    virtual bool has_passed(std::uint64_t number) = 0;
    /// Waits for that, but no longer than `most`; returns whether it is so.
    virtual bool wait_for(std::uint64_t number, std::chrono::milliseconds most) = 0;
    /// The number of a submission that is done once all that was submitted so far is.
    virtual std::uint64_t mark() { return submitted(); }
    /// The same, also of what others gave the vendor's queue.
    virtual std::uint64_t fence() { return mark(); }
    /// What is submitted later starts behind that work, of a queue of any device.
    virtual void wait_on(const Completion& c);
    /// A submission like that of mark(), for which the queue keeps times until forget_times().
    virtual std::uint64_t record() { return mark(); }
    /// Of what was submitted since the record before that one, which is done. Throws where the
    /// queue does not profile.
    virtual QueueTimes times(std::uint64_t number);
    virtual void forget_times(std::uint64_t /*number*/) {}
};

/// The end of work that a queue was given: a plain value that owns nothing and is polled.
struct Completion {
    Queue* queue = nullptr;  ///< null: done
    std::uint64_t number = 0;

    /// Of everything that was submitted so far; done where there is no queue.
    static Completion of_all(Queue* queue) {
        return queue ? Completion{queue, queue->mark()} : Completion{};
    }
    bool is_done() const { return !queue || queue->has_passed(number); }
    /// Waits, outside of the engine. Throws an Interrupt error where the thread's CancelScope says
    /// so; the work goes on.
    void wait() const;
};

/// While it lives, what the calling thread gives the queue's device goes to that queue: each
/// command behind the one before it, the first behind `after`, which is of queues of that device.
class QueueScope {
  public:
    QueueScope(Queue& queue, std::vector<Completion> after);
    ~QueueScope();
    QueueScope(const QueueScope&) = delete;
    QueueScope& operator=(const QueueScope&) = delete;

    /// The calling thread's for that device; null where it uses the device's own queue.
    static QueueScope* of(const Device& device);

    Queue& queue() const { return queue_; }
    /// What the next command waits for; of a queue in order, of other queues.
    std::span<const Completion> after() const { return after_; }
    /// The queue took a command, which has this number.
    void advance(std::uint64_t number);
    /// Of the last command.
    Completion last() const { return last_; }

  private:
    Queue& queue_;
    std::vector<Completion> after_;
    Completion last_;
    QueueScope* const outer_;
};

}  // namespace unisono
