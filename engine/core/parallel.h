// Parallel loops over chunks: what block, compiled kernels and copies run on.
//
// A range is cut into chunks of `grain` iterations; the cut depends on the range and the grain
// alone, never on the number of threads. Chunks are handed out in rising order from one counter,
// and the calling thread takes chunks too, so a busy core slows one chunk, not the loop. A parallel
// loop inside a chunk runs serially in its thread.
//
// Threads come from an executor that is made at the first loop that can use it: oneTBB where
// backends/cpu offers it, else the pool of thread_pool.h. After a fork the child makes an executor
// of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "core/threads.h"

namespace unisono {

/// Runs a function on several threads at once.
class Executor {
  public:
    virtual ~Executor() = default;
    /// Calls work(context) on the calling thread and, as threads come free, on up to `helpers`
    /// others; returns when all calls made have returned. work never throws.
    virtual void run(int helpers, void (*work)(void*), void* context) = 0;
    virtual const char* name() const = 0;
};

/// Makes the preferred executor, or returns null where it is missing; called at most once per
/// process.
using ExecutorFactory = std::unique_ptr<Executor> (*)();
void set_executor_factory(ExecutorFactory factory);

/// The executor's name ("std", "tbb"), or "none" while no loop needed one.
const char* executor_name();

/// Body of a chunk: iterations [begin, end). Must not throw.
using ChunkBody = void (*)(void* context, std::int64_t begin, std::int64_t end);

/// Runs body over [begin, end) in chunks of grain iterations (grain < 1: 1). Where `stop` is given,
/// no chunk is begun after it has become true; chunks before the ones running then were all begun.
void parallel_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, ChunkBody body,
                     void* context, bool (*stop)(void*) = nullptr);

/// parallel_for(begin, end, grain, [&](int64_t b, int64_t e) {...}); the function must not throw.
template <class F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, F&& function) {
    using Function = std::remove_reference_t<F>;
    parallel_chunks(
        begin, end, grain,
        [](void* context, std::int64_t b, std::int64_t e) {
            (*static_cast<Function*>(context))(b, e);
        },
        const_cast<void*>(static_cast<const void*>(&function)));
}

/// Whether the calling thread is inside a chunk (a loop begun now would run serially).
bool in_parallel();

}  // namespace unisono
