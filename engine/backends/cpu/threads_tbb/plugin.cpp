// Parallel work on oneTBB, which shares its threads with every other user of it in the process.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <map>
#include <memory>
#include <mutex>

namespace {

/// One arena per number of helpers: an arena never runs more than it was made for. oneTBB allows no
/// more threads than cores unless told so.
tbb::task_arena& arena_of(int helpers) {
    static std::mutex& mutex = *new std::mutex;
    static auto& arenas = *new std::map<int, std::unique_ptr<tbb::task_arena>>;
    static auto& allowed = *new std::unique_ptr<tbb::global_control>;
    std::lock_guard lock(mutex);
    constexpr auto limit = tbb::global_control::max_allowed_parallelism;
    auto wanted = static_cast<std::size_t>(helpers) + 1;
    if (wanted > tbb::global_control::active_value(limit))
        allowed = std::make_unique<tbb::global_control>(limit, wanted);
    auto& arena = arenas[helpers];
    if (!arena) arena = std::make_unique<tbb::task_arena>(helpers + 1, 1);
    return *arena;
}

}  // namespace

/// Has `count` threads call serve(context), each once; returns at once.
extern "C" void unisono_threads_summon(int count, void (*serve)(void*), void* context) noexcept {
    tbb::task_arena& arena = arena_of(count);
    for (int k = 0; k < count; ++k) arena.enqueue([=] { serve(context); });
}
