// The handlers that fork calls for all mutexes of the process.
#include "core/threads/fork.h"

#include <pthread.h>

#include <chrono>
#include <new>
#include <thread>

namespace unisono {

namespace {
std::atomic<unsigned> fork_count{0};
}  // namespace

struct ForkHandlers {
    // Plain pointers, so that mutexes of static objects can be made in any order.
    static inline std::atomic<ProcessMutex*> first{nullptr};
    /// Held while a mutex is added, and during a fork: one made meanwhile would not be taken.
    static inline std::mutex adding;
    /// The head of the list that `before` took on this thread.
    static inline thread_local ProcessMutex* taken_from = nullptr;
    static inline thread_local bool is_taken = false;

    /// All or none: the sections of other threads may be nested in any order.
    static bool take(ProcessMutex* head) {
        for (ProcessMutex* m = head; m; m = m->next_) {
            if (m->mutex_.try_lock()) continue;
            give(head, m);
            return false;
        }
        return true;
    }
    static void give(ProcessMutex* head, const ProcessMutex* end) {
        for (ProcessMutex* m = head; m != end; m = m->next_) m->mutex_.unlock();
    }

    static void before() {
        constexpr int most_tries = 100'000;  // some ten seconds: this thread may hold one itself
        is_taken = false;
        for (int k = 0; k < most_tries && !is_taken; ++k) {
            // A section may add a mutex itself (it loads a library): nothing is held while it
            // waits.
            if (adding.try_lock()) {
                taken_from = first.load(std::memory_order_acquire);
                is_taken = take(taken_from);
                if (!is_taken) adding.unlock();
            }
            if (!is_taken) std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    }
    static void in_parent() {
        if (!is_taken) return;
        give(taken_from, nullptr);
        adding.unlock();
    }
    static void in_child() {
        fork_count.fetch_add(1, std::memory_order_relaxed);
        new (&adding) std::mutex;
        // Also where `before` gave up: whoever held them is gone.
        for (ProcessMutex* m = first.load(std::memory_order_acquire); m; m = m->next_)
            new (&m->mutex_) std::mutex;
    }
};

ProcessMutex::ProcessMutex() {
    std::lock_guard lock(ForkHandlers::adding);
    next_ = ForkHandlers::first.load(std::memory_order_relaxed);
    ForkHandlers::first.store(this, std::memory_order_release);
    static const bool are_set = [] {
        pthread_atfork(ForkHandlers::before, ForkHandlers::in_parent, ForkHandlers::in_child);
        return true;
    }();
    static_cast<void>(are_set);
}

ProcessMutex::~ProcessMutex() {
    std::lock_guard lock(ForkHandlers::adding);
    ProcessMutex* before = ForkHandlers::first.load(std::memory_order_relaxed);
    if (before == this) {
        ForkHandlers::first.store(next_, std::memory_order_release);
        return;
    }
    while (before->next_ != this) before = before->next_;
    before->next_ = next_;
}

unsigned LongMutex::forks() { return fork_count.load(std::memory_order_relaxed); }

void LongMutex::renew() {
    if (forks_.load(std::memory_order_acquire) == forks()) return;
    static ProcessMutex& renewing = *new ProcessMutex;
    std::lock_guard lock(renewing);
    if (forks_.load(std::memory_order_relaxed) == forks()) return;
    new (&mutex_) std::mutex;
    forks_.store(forks(), std::memory_order_release);
}

}  // namespace unisono
