// Waits for what queues were given, and which queue a thread uses.
#include "backends/queue.h"

#include "core/error.h"
#include "core/threads/interrupt.h"

namespace unisono {

namespace {
thread_local QueueScope* innermost = nullptr;
}

QueueTimes Queue::times(std::uint64_t) {
    fail(ErrorKind::Device, "profile: this queue notes no times; use Queue(profiling=True)");
}

void Queue::wait_on(const Completion& c) { c.wait(); }

void Completion::wait() const {
    if (!queue) return;
    CancelScope* cancel = CancelScope::current();
    while (!queue->wait_for(number, std::chrono::milliseconds(cancel ? 50 : 1000))) {
        if (cancel && cancel->stops()) {
            fail(ErrorKind::Interrupt,
                 "interrupted while a device computes; what it was given runs to its end");
        }
    }
}

QueueScope::QueueScope(Queue& queue, std::vector<Completion> after)
    : queue_(queue), after_(std::move(after)), outer_(std::exchange(innermost, this)) {}

QueueScope::~QueueScope() { innermost = outer_; }

QueueScope* QueueScope::of(const Device& device) {
    QueueScope* scope = innermost;
    while (scope && &scope->queue_.device() != &device) scope = scope->outer_;
    return scope;
}

void QueueScope::advance(std::uint64_t number) {
    last_ = {&queue_, number};
    after_.clear();
    if (!queue_.options().in_order) after_.push_back(last_);
}

}  // namespace unisono
