// One run as its threads share it, and how they share it.
#pragma once

#include <algorithm>

#include "backends/block/program.h"
#include "backends/block/worker.h"
#include "core/threads/parallel.h"

namespace unisono::block {

/// What all threads of one run share.
struct Job {
    const Program& program;
    const GroupRun& run;
    const Plan& plan;
    std::int64_t rows;    ///< of the axes that are neither innermost nor reduced
    std::int64_t points;  ///< of the innermost axis
    int reduce_axis;      ///< of the run's space; -1: none
};

/// Piece of the stack for what a worker needs; what does not fit goes to the heap.
inline constexpr std::size_t stack_bytes = 40 * 1024;

/// Points per block: their values fit the first-level cache; a multiple of 128.
std::int64_t block_points(const Program& program);
/// Points that make a chunk of work for one thread.
std::int64_t chunk_points(const Program& program);
/// Of a run by rows: rows per block.
inline std::int64_t block_rows(const Program& program, std::int64_t columns) {
    return std::max<std::int64_t>(1, block_points(program) / columns);
}

/// Calls work(worker, arena, first, last) for ranges of units, on as many threads as pay. How the
/// units are cut into ranges depends on the group and the shape only.
template <class F>
void share(const Job& job, std::int64_t units, std::int64_t unit_points, std::int64_t block,
           Arena& arena, F&& work) {
    const std::int64_t grain = std::max<std::int64_t>(
        1, chunk_points(job.program) / std::max<std::int64_t>(1, unit_points));
    if (units <= grain) {
        Worker worker(job.program, job.run, job.plan, block, arena);
        work(worker, arena, 0, units);
        return;
    }
    parallel_for(0, units, grain, [&](std::int64_t begin, std::int64_t end) {
        alignas(64) std::byte memory[stack_bytes];
        Arena own(memory);
        Worker worker(job.program, job.run, job.plan, block, own);
        work(worker, own, begin, end);
    });
}

/// Reductions along the innermost and along any other axis, neither of them empty.
void run_inner_reduction(const Job& job, Arena& arena);
void run_outer_reduction(const Job& job, Arena& arena);
/// An empty reduced axis gives the identity everywhere.
void fill_identity(const Job& job, Arena& arena);

}  // namespace unisono::block
