// Parallel work on oneTBB, which shares its threads with every other user of it in the process.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <map>
#include <memory>
#include <mutex>

namespace {

/// One arena per number of threads: an arena never runs more than it was made for. oneTBB allows no
/// more threads than cores unless told so.
tbb::task_arena& arena_of(int threads) {
    static std::mutex& mutex = *new std::mutex;
    static auto& arenas = *new std::map<int, std::unique_ptr<tbb::task_arena>>;
    static auto& allowed = *new std::unique_ptr<tbb::global_control>;
    std::lock_guard lock(mutex);
    constexpr auto limit = tbb::global_control::max_allowed_parallelism;
    auto wanted = static_cast<std::size_t>(threads);
    if (wanted > tbb::global_control::active_value(limit))
        allowed = std::make_unique<tbb::global_control>(limit, wanted);
    auto& arena = arenas[threads];
    if (!arena) arena = std::make_unique<tbb::task_arena>(threads);
    return *arena;
}

}  // namespace

/// Calls work(context) on the calling thread and on up to `helpers` others; returns when all have
/// returned.
extern "C" void unisono_threads_run(int helpers, void (*work)(void*), void* context) noexcept {
    arena_of(helpers + 1).execute([&] {
        tbb::task_group group;
        for (int k = 0; k < helpers; ++k) group.run([=] { work(context); });
        work(context);
        group.wait();
    });
}
