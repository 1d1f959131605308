// Hands out chunks from one counter, and keeps the executor of this process.
#include "core/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/thread_pool.h"

namespace unisono {

namespace {

thread_local bool inside_chunk = false;

struct State {
    std::mutex mutex;
    std::atomic<Executor*> executor{nullptr};
    ExecutorFactory factory = nullptr;
    bool forked = false;  // a child: threads of the parent's library do not exist here
};

// Never destroyed: threads may still run while the process ends.
State& state() {
    static State& the_state = *new State;
    return the_state;
}

void before_fork() { state().mutex.lock(); }
void after_fork_in_parent() { state().mutex.unlock(); }
// The parent's executor stays allocated: its threads are gone, so nothing of it may be touched, not
// even destroyed.
void after_fork_in_child() {
    state().executor.store(nullptr);
    state().forked = true;
    inside_chunk = false;
    state().mutex.unlock();
}

Executor& executor() {
    State& s = state();
    if (Executor* made = s.executor.load(std::memory_order_acquire)) return *made;
    std::lock_guard lock(s.mutex);
    if (Executor* made = s.executor.load(std::memory_order_relaxed)) return *made;
    static std::once_flag once;
    std::call_once(once,
                   [] { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); });
    std::unique_ptr<Executor> made;
    if (s.factory && !s.forked) made = s.factory();
    if (!made) made = make_thread_pool();
    Executor* kept = made.release();  // lives as long as the process, see state()
    s.executor.store(kept, std::memory_order_release);
    return *kept;
}

struct Loop {
    std::int64_t begin, end, grain, chunks;
    ChunkBody body;
    void* context;
    bool (*stop)(void*);
    std::atomic<std::int64_t> next{0};

    void run_chunk(std::int64_t index) {
        std::int64_t b = begin + index * grain;
        body(context, b, index + 1 == chunks ? end : b + grain);
    }

    void take_chunks() {
        bool before = inside_chunk;
        inside_chunk = true;
        while (!(stop && stop(context))) {
            std::int64_t index = next.fetch_add(1, std::memory_order_relaxed);
            if (index >= chunks) break;
            run_chunk(index);
        }
        inside_chunk = before;
    }
};

}  // namespace

void set_executor_factory(ExecutorFactory factory) { state().factory = factory; }

const char* executor_name() {
    Executor* made = state().executor.load(std::memory_order_acquire);
    return made ? made->name() : "none";
}

bool in_parallel() { return inside_chunk; }

void parallel_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, ChunkBody body,
                     void* context, bool (*stop)(void*)) {
    if (begin >= end) return;
    grain = std::max<std::int64_t>(grain, 1);
    std::int64_t chunks = (end - begin - 1) / grain + 1;
    Loop loop{begin, end, grain, chunks, body, context, stop};
    std::int64_t threads = inside_chunk ? 1 : std::min<std::int64_t>(thread_count(), chunks);
    if (threads <= 1) {
        for (std::int64_t i = 0; i < chunks && !(stop && stop(context)); ++i) loop.run_chunk(i);
        return;
    }
    executor().run(
        static_cast<int>(threads) - 1, [](void* l) { static_cast<Loop*>(l)->take_chunks(); },
        &loop);
}

}  // namespace unisono
