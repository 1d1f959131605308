// Parallel loops over chunks: what block, compiled kernels and copies run on.
//
// A range is cut into chunks of `grain` iterations; the cut depends on the range and the grain
// alone, never on the number of threads. Each thread begins with a part of the chunks of its own,
// the same part in every loop of that size, so that what its caches hold stays useful; then it
// takes what others have left, so a busy core slows one chunk, not the loop. A parallel loop inside
// a chunk runs serially in its thread.
//
// Helper threads come from a source that is made at the first loop that can use it: oneTBB where
// backends/cpu offers it, else threads of our own (thread_pool.h). After a fork the child makes one
// of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "core/threads/threads.h"

namespace unisono {

/// Where helper threads come from.
class HelperSource {
  public:
    virtual ~HelperSource() = default;
    /// Has `count` threads call serve(context), each once and as soon as it comes free; returns at
    /// once. serve never throws.
    virtual void summon(int count, void (*serve)(void*), void* context) = 0;
    virtual const char* name() const = 0;
};

/// Makes the preferred source, or returns null where it is missing; called at most once per
/// process.
using HelperFactory = std::unique_ptr<HelperSource> (*)();
void set_helper_factory(HelperFactory factory);

/// The name of the source in use ("std", "tbb"), or "none" while no loop needed one.
const char* executor_name();

/// Body of a chunk: iterations [begin, end). Must not throw. False where it failed.
using ChunkBody = bool (*)(void* context, std::int64_t begin, std::int64_t end);

/// Runs body over [begin, end) in chunks of grain iterations (grain < 1: 1). After a chunk has
/// failed, no later one is begun; all chunks before the first that failed are run.
/// Inside of a CancelScope it throws an Interrupt error where the user asks to stop (interrupt.h).
/// `waiting`, if there is one, is called now and then while the calling thread waits for others.
void parallel_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, ChunkBody body,
                     void* context, void (*waiting)(void*) = nullptr);

/// parallel_for(begin, end, grain, [&](int64_t b, int64_t e) {...}); the function must not throw.
template <class F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, F&& function) {
    using Function = std::remove_reference_t<F>;
    if (end - begin <= grain) {  // one chunk
        if (begin < end) function(begin, end);
        return;
    }
    parallel_chunks(
        begin, end, grain,
        [](void* context, std::int64_t b, std::int64_t e) {
            (*static_cast<Function*>(context))(b, e);
            return true;
        },
        const_cast<void*>(static_cast<const void*>(&function)));
}

/// Whether the calling thread is inside a chunk (a loop begun now would run serially).
bool in_parallel();

}  // namespace unisono
