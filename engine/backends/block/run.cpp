// Runs a prepared group: chooses the plan and the driver, and runs groups that do not reduce.
//
// A unit of work is one block of a row or, where rows are short, a block of whole rows. reduce.cpp
// has the drivers for reductions. Cuts depend on the shape only, never on the number of threads.
#include "backends/block/job.h"
#include "core/limits.h"
#include "core/streams.h"
#include "ops/reduction_tree.h"

namespace unisono::block {
namespace {

constexpr std::int64_t cache_budget = 24 * 1024;  ///< bytes of one block's values
constexpr double chunk_nanoseconds = 20000;       ///< least work that is worth handing to a thread

void run_blocks(const Job& job, bool streams, Arena& arena) {
    const std::int64_t block = std::min(block_points(job.program), job.points);
    const std::int64_t per_row = (job.points + block - 1) / block;
    share(job, job.rows * per_row, block, block, arena,
          [&](Worker& worker, Arena&, std::int64_t begin, std::int64_t end) {
              worker.seek(begin / per_row);
              std::int64_t position = begin % per_row * block;
              for (std::int64_t tile = begin; tile < end; ++tile) {
                  worker.execute(position, std::min(block, job.points - position));
                  position += block;
                  if (position >= job.points) {
                      position = 0;
                      worker.next_row();
                  }
              }
              if (streams) finish_streams();
          });
}

void run_rows(const Job& job, Arena& arena) {
    const std::int64_t extent = job.run.shape[job.run.shape.size() - 2];
    const std::int64_t rows = std::min(extent, block_rows(job.program, job.points));
    const std::int64_t per_plane = (extent + rows - 1) / rows;
    share(job, job.rows / extent * per_plane, rows * job.points, rows * job.points, arena,
          [&](Worker& worker, Arena&, std::int64_t begin, std::int64_t end) {
              for (std::int64_t tile = begin; tile < end; ++tile) {
                  const std::int64_t first = tile % per_plane * rows;
                  worker.seek(tile / per_plane * extent + first);
                  worker.execute(0, std::min(rows, extent - first) * job.points);
              }
          });
}

/// Whether the plan that was made beforehand serves: each operand moves by one element.
bool is_usual(const Program& program, const GroupRun& run) {
    const std::size_t axis = run.shape.size() - 1;
    auto unit = [&](const GroupRun::Operand& operand) { return operand.strides[axis] == 1; };
    for (std::size_t o = 0; o < run.outputs.size(); ++o) {
        if (!program.outputs[o].reduces && !unit(run.outputs[o])) return false;
    }
    return std::all_of(run.inputs.begin(), run.inputs.end(), unit);
}

bool should_stream(const Program& program, const GroupRun& run, std::int64_t total) {
    std::int64_t bytes = 0;
    for (std::uint8_t size : program.input_bytes) bytes += size;
    for (const OutputInfo& output : program.outputs) bytes += output.bytes;
    return bytes * total >= stream_bytes && run.shape.back() >= 256;
}

/// Rows that are short are taken together where the axis before the last allows it.
bool takes_rows_together(const GroupRun& run, int reduce_axis) {
    const int rank = static_cast<int>(run.shape.size());
    if (rank < 2 || run.shape.back() > limits::short_row || run.shape[run.shape.size() - 2] < 2)
        return false;
    return reduce_axis < 0 || reduce_axis >= rank - 2;
}

}  // namespace

std::int64_t block_points(const Program& program) {
    std::int64_t values = program.registers + static_cast<std::int64_t>(program.outputs.size()) + 1;
    return std::clamp<std::int64_t>(cache_budget / (program.widest * values) & ~std::int64_t{127},
                                    128, 2048);
}

std::int64_t chunk_points(const Program& program) {
    double cost = 0.1 * static_cast<double>(program.nodes.size() + program.outputs.size()) +
                  3.0 * program.costly_calls;
    return static_cast<std::int64_t>(chunk_nanoseconds / cost);
}

void execute(const Program& program, const GroupRun& run) {
    alignas(64) std::byte memory[stack_bytes];
    Arena arena(memory);
    const int reduce_axis = reduced_axis(program, run);
    std::int64_t rows = 1;
    for (std::size_t axis = 0; axis + 1 < run.shape.size(); ++axis) {
        if (static_cast<int>(axis) != reduce_axis) rows *= run.shape[axis];
    }
    const std::int64_t points = run.shape.back();
    const bool reduces = reduce_axis >= 0;
    const bool inner = reduce_axis + 1 == static_cast<int>(run.shape.size());
    const std::int64_t reduced = reduces ? run.shape[static_cast<std::size_t>(reduce_axis)] : 1;
    if (rows == 0 || (points == 0 && !(reduces && inner))) return;

    const bool by_rows = reduced != 0 && takes_rows_together(run, reduce_axis);
    const bool streams = !reduces && !by_rows && rows * points >= 1 << 20 &&
                         should_stream(program, run, rows * points);
    const bool usual = !by_rows && !streams && is_usual(program, run);
    const Plan special = usual ? Plan{} : program.plan(run, streams, by_rows, arena);
    const Job job{program, run, usual ? program.usual : special, rows, points, reduce_axis};
    if (reduced == 0)
        fill_identity(job, arena);
    else if (reduces && inner)
        run_inner_reduction(job, arena);
    else if (reduces)
        run_outer_reduction(job, arena);
    else if (by_rows)
        run_rows(job, arena);
    else
        run_blocks(job, streams, arena);
}

}  // namespace unisono::block
