// Queues of devices: work in the order in which it was submitted, and when that is done.
#pragma once

#include <chrono>
#include <cstdint>

namespace unisono {

/// Runs what it is given one after the other, while the threads that submit go on. Safe to use from
/// several threads at once. A queue lives as long as the process.
class Queue {
  public:
    virtual ~Queue() = default;
    /// Number of the last submission; the first has 1.
    virtual std::uint64_t submitted() = 0;
    /// Whether that submission and all before it are done. Returns at once.
    virtual bool has_passed(std::uint64_t number) = 0;
    /// Waits for that, but no longer than `most`; returns whether it is so.
    virtual bool wait_for(std::uint64_t number, std::chrono::milliseconds most) = 0;
};

/// The end of work that a queue was given: a plain value that owns nothing and is polled.
struct Completion {
    Queue* queue = nullptr;  ///< null: done
    std::uint64_t number = 0;

    /// Of everything that was submitted so far; done where there is no queue.
    static Completion of_all(Queue* queue) {
        return queue ? Completion{queue, queue->submitted()} : Completion{};
    }
    bool is_done() const { return !queue || queue->has_passed(number); }
    /// Waits, outside of the engine. Throws an Interrupt error where the thread's CancelScope says
    /// so; the work goes on.
    void wait() const;
};

}  // namespace unisono
