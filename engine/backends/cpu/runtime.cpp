// Runs the parallel loops of compiled kernels.
#include "backends/cpu/runtime.h"

#include <algorithm>
#include <mutex>

#include "backends/codegen/compile.h"
#include "backends/cpu/deferred.h"
#include "core/threads/interrupt.h"
#include "core/threads/parallel.h"

namespace unisono::cpu {

namespace {

/// Some tens of microseconds. Starting helpers costs up to a tenth of that, and what they wrote
/// lies in another core's cache: between statements on middle-sized arrays that costs more than
/// they save.
constexpr std::int64_t serial_below = 1'000'000;
constexpr std::int64_t work_of_chunk = 100'000;
constexpr std::int64_t most_chunks = 256;
/// About a tenth of a second: what one piece takes at most, since nobody asks inside of a simple
/// one.
constexpr std::int64_t work_between_polls = 1'000'000'000;

/// The user wants to stop: at the loop's line.
void interrupt_at(Fault& fault, std::int64_t place) {
    fault = Fault{};
    fault.site = codegen::interrupted_site;
    fault.values[0] = place & 0xffffffff;
    fault.values[1] = place >> 32;
}

struct Loop {
    LoopBody body;
    void* context;
    std::int64_t place;
    DeferredFunctions* deferred;
    std::mutex mutex;
    bool failed = false, stopped = false;
    Fault lowest{};

    bool run(std::int64_t begin, std::int64_t end) {
        HostFault own;
        own.deferred = deferred;
        own.site = body(&own, context, begin, end);
        if (own.site < 0 && poll_interrupt()) interrupt_at(own, place);
        if (own.site < 0) return true;
        std::lock_guard lock(mutex);
        if (!failed || own.iteration < lowest.iteration) lowest = own;
        failed = true;
        return false;
    }

    /// Helpers that are still at work learn from the answer; what they leave behind then counts
    /// for nothing.
    void ask() { stopped = stopped || poll_interrupt(); }
};

/// In one piece, or in pieces between which the user can stop it where it takes a second.
std::int64_t run_serially(Fault* fault, LoopBody body, void* context, std::int64_t trips,
                          std::int64_t total, std::int64_t place) {
    std::int64_t pieces =
        total < 10 * work_between_polls
            ? 1
            : std::min(trips, std::max<std::int64_t>(total / work_between_polls, 256));
    std::int64_t grain = trips / pieces + (trips % pieces != 0);
    for (std::int64_t begin = 0; begin < trips; begin += grain) {
        std::int64_t site = body(fault, context, begin, std::min(trips, begin + grain));
        if (site < 0 && pieces > 1 && poll_interrupt()) {
            interrupt_at(*fault, place);
            site = fault->site;
        }
        if (site >= 0) return site;
    }
    return -1;
}

}  // namespace

std::int64_t run_parallel_loop(Fault* fault, LoopBody body, void* context, std::int64_t trips,
                               std::int64_t work, std::int64_t place) noexcept {
    if (trips <= 0) return -1;
    std::int64_t total = 0;
    if (__builtin_mul_overflow(trips, std::max<std::int64_t>(work, 1), &total)) total = INT64_MAX;
    if (total < serial_below || in_parallel() || thread_count() == 1) {
        return run_serially(fault, body, context, trips, total, place);
    }
    std::int64_t chunks = std::max(std::clamp<std::int64_t>(total / work_of_chunk, 2, most_chunks),
                                   std::min(trips, total / work_between_polls));
    std::int64_t grain = (trips + chunks - 1) / chunks;
    Loop loop{body, context, place, static_cast<HostFault*>(fault)->deferred, {}, {}, {}, {}};
    parallel_chunks(
        0, trips, grain,
        [](void* l, std::int64_t b, std::int64_t e) { return static_cast<Loop*>(l)->run(b, e); },
        &loop, [](void* l) { static_cast<Loop*>(l)->ask(); });
    if (loop.stopped) interrupt_at(loop.lowest, place);
    if (!loop.failed && !loop.stopped) return -1;
    *fault = loop.lowest;
    return fault->site;
}

std::int64_t poll_from_code(Fault* fault, std::int64_t iteration, std::int64_t line,
                            std::int64_t file) noexcept {
    if (!poll_interrupt()) return 0;
    fault->site = codegen::interrupted_site;
    fault->iteration = iteration;
    fault->values[0] = line;
    fault->values[1] = file;
    return 1;
}

void* find_deferred(Fault* fault, std::int64_t function) noexcept {
    return static_cast<HostFault*>(fault)->deferred->find(function);
}

}  // namespace unisono::cpu
