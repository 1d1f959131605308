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
    /// The head of the list that `before` took on this thread.
    static inline thread_local ProcessMutex* taken_from = nullptr;

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
        constexpr int most_tries = 20'000;  // some two seconds: this thread may hold one itself
        ProcessMutex* head = first.load(std::memory_order_acquire);
        taken_from = nullptr;
        for (int k = 0; k < most_tries; ++k) {
            if (take(head)) {
                taken_from = head;
                return;
            }
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    }
    static void in_parent() { give(taken_from, nullptr); }
    static void in_child() {
        fork_count.fetch_add(1, std::memory_order_relaxed);
        // Also those made since `before`: whoever held them is gone.
        for (ProcessMutex* m = first.load(std::memory_order_acquire); m; m = m->next_)
            new (&m->mutex_) std::mutex;
    }
};

ProcessMutex::ProcessMutex() {
    next_ = ForkHandlers::first.load(std::memory_order_relaxed);
    while (!ForkHandlers::first.compare_exchange_weak(next_, this, std::memory_order_release)) {
    }
    if (!next_)
        pthread_atfork(ForkHandlers::before, ForkHandlers::in_parent, ForkHandlers::in_child);
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
