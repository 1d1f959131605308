// Hands out chunks, and keeps the thread pool of this process.
#include "core/threads/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "core/threads/interrupt.h"
#include "core/threads/thread_pool.h"

namespace unisono {

namespace {

thread_local bool inside_chunk = false;

struct State {
    std::mutex mutex;
    std::atomic<ThreadPool*> pool{nullptr};
    HelperFactory factory = nullptr;
    bool forked = false;  // a child: threads of the parent's library do not exist here
};

// Never destroyed: threads may still run while the process ends.
State& state() {
    static State& the_state = *new State;
    return the_state;
}

void before_fork() { state().mutex.lock(); }
void after_fork_in_parent() { state().mutex.unlock(); }
// The parent's pool stays allocated: its threads are gone, so nothing of it may be touched, not
// even destroyed.
void after_fork_in_child() {
    state().pool.store(nullptr);
    state().forked = true;
    inside_chunk = false;
    state().mutex.unlock();
}

ThreadPool& pool() {
    State& s = state();
    if (ThreadPool* made = s.pool.load(std::memory_order_acquire)) return *made;
    std::lock_guard lock(s.mutex);
    if (ThreadPool* made = s.pool.load(std::memory_order_relaxed)) return *made;
    static std::once_flag once;
    std::call_once(once,
                   [] { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); });
    std::unique_ptr<HelperSource> source;
    if (s.factory && !s.forked) source = s.factory();
    if (!source) source = make_own_threads();
    // Kept as long as the process lives, see state().
    auto* kept = new ThreadPool(std::move(source));
    s.pool.store(kept, std::memory_order_release);
    return *kept;
}

constexpr int most_parts = 64;
constexpr const char* cancelled_text = "interrupted; what has not run is kept";

/// The part of the chunks that a thread prefers; the caller of a loop takes part 0.
int preferred_part() {
    static std::atomic<int> helpers{0};
    thread_local int mine = ++helpers;
    return mine;
}

/// The chunks that one thread begins with; others take from it when theirs are done.
struct alignas(64) Part {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
    std::atomic<bool> owned{false};
};

struct Loop {
    std::int64_t begin, end, grain, chunks;
    ChunkBody body;
    void* context;
    int parts;
    std::atomic<std::int64_t> failed;  ///< the first chunk known to have failed, else `chunks`
    bool cancelled = false;            ///< set and read by the thread that began the loop
    Part part[most_parts];

    Loop(std::int64_t b, std::int64_t e, std::int64_t g, std::int64_t n, ChunkBody f, void* c,
         int threads)
        : begin(b),
          end(e),
          grain(g),
          chunks(n),
          body(f),
          context(c),
          parts(std::min(threads, most_parts)),
          failed(n) {
        for (int p = 0; p < parts; ++p) {
            part[p].next.store(chunks * p / parts, std::memory_order_relaxed);
            part[p].end = chunks * (p + 1) / parts;
        }
    }

    void run_chunk(std::int64_t index) {
        std::int64_t b = begin + index * grain;
        if (body(context, b, index + 1 == chunks ? end : b + grain)) return;
        std::int64_t known = failed.load(std::memory_order_relaxed);
        while (index < known && !failed.compare_exchange_weak(known, index)) {
        }
    }

    void run_part(Part& p, CancelScope* cancel) {
        for (;;) {
            if (cancel && cancel->stops()) {
                cancelled = true;
                failed.store(-1, std::memory_order_relaxed);
            }
            std::int64_t index = p.next.fetch_add(1, std::memory_order_relaxed);
            if (index >= p.end || index > failed.load(std::memory_order_relaxed)) return;
            run_chunk(index);
        }
    }

    /// The part that this thread begins with: the preferred one if it is free.
    int claim(int preferred) {
        for (int k = 0; k < parts; ++k) {
            int p = (preferred + k) % parts;
            if (!part[p].owned.exchange(true, std::memory_order_relaxed)) return p;
        }
        return preferred % parts;
    }

    /// `cancel`: the scope of the thread that began the loop, on this thread only.
    void take_chunks(int preferred, CancelScope* cancel) {
        bool before = inside_chunk;
        inside_chunk = true;
        int first = claim(preferred);
        for (int k = 0; k < parts; ++k) run_part(part[(first + k) % parts], cancel);
        inside_chunk = before;
    }
};

}  // namespace

void set_helper_factory(HelperFactory factory) { state().factory = factory; }

const char* executor_name() {
    ThreadPool* made = state().pool.load(std::memory_order_acquire);
    return made ? made->name() : "none";
}

bool in_parallel() { return inside_chunk; }

void parallel_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, ChunkBody body,
                     void* context, void (*waiting)(void*)) {
    if (begin >= end) return;
    grain = std::max<std::int64_t>(grain, 1);
    std::int64_t chunks = (end - begin - 1) / grain + 1;
    std::int64_t threads = inside_chunk ? 1 : std::min<std::int64_t>(thread_count(), chunks);
    CancelScope* cancel = inside_chunk ? nullptr : CancelScope::current();
    if (threads <= 1) {
        for (std::int64_t b = begin; b < end; b += grain) {
            if (b > begin && cancel && cancel->stops()) fail(ErrorKind::Interrupt, cancelled_text);
            if (!body(context, b, end - b < grain ? end : b + grain)) return;
        }
        return;
    }
    Loop loop(begin, end, grain, chunks, body, context, static_cast<int>(threads));
    auto caller = std::this_thread::get_id();
    struct Run {
        Loop& loop;
        std::thread::id caller;
        CancelScope* cancel;
        void (*waiting)(void*);
    } run{loop, caller, cancel, waiting};
    pool().run(
        static_cast<int>(threads) - 1,
        [](void* r) {
            auto& run = *static_cast<Run*>(r);
            const bool is_caller = std::this_thread::get_id() == run.caller;
            run.loop.take_chunks(is_caller ? 0 : preferred_part(),
                                 is_caller ? run.cancel : nullptr);
        },
        &run,
        waiting ? [](void* r) {
            auto& run = *static_cast<Run*>(r);
            run.waiting(run.loop.context);
        } : static_cast<void (*)(void*)>(nullptr));
    if (loop.cancelled) fail(ErrorKind::Interrupt, cancelled_text);
}

}  // namespace unisono
