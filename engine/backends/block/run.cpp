// Runs a prepared group: cuts the iteration space into blocks, shares them among threads, and
// combines reductions in the order of ops/reduction_tree.h.
//
// Three drivers. Elementwise: a tile is one block of one row. Reduction along the innermost axis: a
// unit is a row, or an aligned piece of 2^k leaves of a long row, folded into one value. Reduction
// along another axis: a unit is a block of columns and all leaves of 8 rows, or an aligned piece of
// 2^k leaves where there are few columns, folded into one value per column. What the units of a
// piece-wise reduction give is folded at the end, by the same tree. Cuts depend on the shape only.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/block/program.h"
#include "backends/block/worker.h"
#include "core/parallel.h"
#include "ops/reduction_tree.h"

namespace unisono::block {
namespace {

using reduction::leaf_count;
using reduction::leaf_elements;
using reduction::leaf_rows;
using reduction::tree_merges;

constexpr std::int64_t cache_budget = 24 * 1024;         ///< bytes of one block's values
constexpr std::int64_t stream_bytes = 32 * 1024 * 1024;  ///< of all operands: beyond the caches
constexpr double chunk_nanoseconds = 20000;     ///< least work that is worth handing to a thread
constexpr std::int64_t piece_leaves = 64;       ///< of a long innermost axis, per unit
constexpr std::int64_t piece_row_leaves = 128;  ///< of a long outer axis, per unit
constexpr std::int64_t few_tiles = 16;
constexpr std::size_t stack_bytes = 40 * 1024;

std::int64_t block_points(const Program& program) {
    std::int64_t values = program.registers + static_cast<std::int64_t>(program.outputs.size()) + 1;
    return std::clamp<std::int64_t>(cache_budget / (8 * values) & ~std::int64_t{127}, 128, 2048);
}

/// Points that make a chunk of work for one thread.
std::int64_t chunk_points(const Program& program) {
    double cost = 0.1 * static_cast<double>(program.nodes.size() + program.outputs.size()) +
                  3.0 * program.costly_calls;
    return static_cast<std::int64_t>(chunk_nanoseconds / cost);
}

bool is_contiguous(const GroupRun& run) {
    const std::size_t axis = run.shape.size() - 1;
    auto unit = [&](const GroupRun::Operand& operand) { return operand.strides[axis] == 1; };
    return std::all_of(run.inputs.begin(), run.inputs.end(), unit) &&
           std::all_of(run.outputs.begin(), run.outputs.end(), unit);
}

/// What all threads of one run share.
struct Job {
    const Program& program;
    const GroupRun& run;
    const Plan& plan;
    std::int64_t rows;    ///< of the axes that are neither innermost nor reduced
    std::int64_t points;  ///< of the innermost axis
};

/// Calls work(worker, arena, first, last) for ranges of units, on as many threads as pay.
template <class F>
void share(const Job& job, std::int64_t units, std::int64_t unit_points, std::int64_t block,
           Arena& arena, F&& work) {
    std::int64_t grain = std::max<std::int64_t>(1, chunk_points(job.program) / unit_points);
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

void run_elementwise(const Job& job, bool streams, Arena& arena) {
    const std::int64_t block = std::min(block_points(job.program), job.points);
    const std::int64_t per_row = leaf_count(job.points, block);
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

/// A stack of node values, `width` elements of at most 8 bytes each, folded by the binary tree.
class Fold {
  public:
    Fold(const OutputInfo& output, std::int64_t width, std::int64_t nodes, Arena& arena)
        : output_(output), width_(width), bytes_(static_cast<std::size_t>(width) * 8) {
        auto levels = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(nodes)));
        stack_ = static_cast<char*>(arena.take_bytes((levels + 1) * bytes_));
    }
    /// Where to put the next node's value before push().
    char* top() { return stack_ + depth_ * bytes_; }
    void push() {
        ++depth_;
        for (int merges = tree_merges(pushed_++); merges > 0; --merges) merge();
    }
    /// The root; nothing may be pushed after.
    const char* result() {
        while (depth_ > 1) merge();
        return stack_;
    }
    void reset() {
        depth_ = 0;
        pushed_ = 0;
    }

  private:
    void merge() {
        char* right = stack_ + (depth_ - 1) * bytes_;
        char* left = right - bytes_;
        output_.merge(left, left, right, right, width_);
        --depth_;
    }

    const OutputInfo& output_;
    std::int64_t width_;
    std::size_t bytes_;
    char* stack_;
    std::size_t depth_ = 0;
    std::int64_t pushed_ = 0;
};

Fold* take_folds(const Program& program, std::int64_t width, std::int64_t nodes, Arena& arena) {
    // Folds own nothing: the arena holds their memory and they need no destruction.
    Fold* folds = arena.take<Fold>(program.outputs.size());
    for (std::size_t o = 0; o < program.outputs.size(); ++o) {
        if (program.outputs[o].reduces)
            new (&folds[o]) Fold(program.outputs[o], width, nodes, arena);
    }
    return folds;
}

template <class F>
void for_reducing(const Program& program, F&& f) {
    for (std::size_t o = 0; o < program.outputs.size(); ++o) {
        if (program.outputs[o].reduces) f(o, program.outputs[o]);
    }
}

/// Folds partial values, piece by piece of each row, into the outputs. Partial values of one output
/// lie as [row][piece], 8 bytes each.
void fold_pieces(const Job& job, const std::vector<char>& partial, std::int64_t pieces,
                 Arena& arena) {
    Worker worker(job.program, job.run, job.plan, 1, arena);
    Fold* folds = take_folds(job.program, 1, pieces, arena);
    const auto per_output = static_cast<std::size_t>(job.rows * pieces * 8);
    for (std::int64_t row = 0; row < job.rows; ++row) {
        for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
            const char* from = partial.data() + o * per_output + row * pieces * 8;
            folds[o].reset();
            for (std::int64_t piece = 0; piece < pieces; ++piece) {
                std::memcpy(folds[o].top(), from + piece * 8, 8);
                folds[o].push();
            }
            std::memcpy(worker.output(o), folds[o].result(), output.bytes);
        });
        worker.next_row();
    }
}

void run_inner_reduction(const Job& job, Arena& arena) {
    const std::int64_t all_leaves = leaf_count(job.points, leaf_elements);
    const std::int64_t pieces = leaf_count(all_leaves, piece_leaves);
    const std::int64_t leaves = std::min(all_leaves, piece_leaves);
    const std::int64_t block = std::min(leaf_elements, job.points);
    std::vector<char> partial;
    const auto per_output = static_cast<std::size_t>(job.rows * pieces * 8);
    if (pieces > 1) partial.resize(per_output * job.program.outputs.size());
    share(job, job.rows * pieces, std::min(job.points, leaves * leaf_elements), block, arena,
          [&](Worker& worker, Arena& own, std::int64_t begin, std::int64_t end) {
              Fold* folds = take_folds(job.program, 1, leaves, own);
              worker.seek(begin / pieces);
              for (std::int64_t unit = begin; unit < end; ++unit) {
                  std::int64_t piece = unit % pieces;
                  std::int64_t position = piece * piece_leaves * leaf_elements;
                  std::int64_t stop = std::min(job.points, position + piece_leaves * leaf_elements);
                  for_reducing(job.program, [&](std::size_t o, auto&) { folds[o].reset(); });
                  for (; position < stop; position += leaf_elements) {
                      std::int64_t count = std::min(leaf_elements, stop - position);
                      worker.execute(position, count);
                      for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
                          output.leaf(folds[o].top(), worker.values(o), count);
                          folds[o].push();
                      });
                  }
                  for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
                      char* to = pieces > 1 ? partial.data() + o * per_output + unit * 8
                                            : worker.output(o);
                      std::memcpy(to, folds[o].result(), output.bytes);
                  });
                  if (piece + 1 == pieces) worker.next_row();
              }
          });
    if (pieces > 1) fold_pieces(job, partial, pieces, arena);
}

void store_row(const GroupRun& run, std::size_t o, const OutputInfo& output, char* to,
               const char* from, std::int64_t count) {
    const std::int64_t stride = run.outputs[o].strides.back();
    if (stride == 1) {
        std::memcpy(to, from, static_cast<std::size_t>(count * output.bytes));
        return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(to + i * stride * output.bytes, from + i * output.bytes, output.bytes);
    }
}

/// Folds leaves [first, last) of the reduced axis for `count` columns from `position` on.
void fold_columns(const Job& job, Worker& worker, Fold* folds, std::int64_t position,
                  std::int64_t count, std::int64_t first, std::int64_t last) {
    const auto axis = static_cast<std::size_t>(reduced_axis(job.program, job.run));
    const std::int64_t extent = job.run.shape[axis];
    for_reducing(job.program, [&](std::size_t o, auto&) { folds[o].reset(); });
    worker.move(axis, first * leaf_rows);
    std::int64_t row = first * leaf_rows;
    for (std::int64_t leaf = first; leaf < last; ++leaf) {
        const std::int64_t stop = std::min(extent, (leaf + 1) * leaf_rows);
        for (bool starts = true; row < stop; ++row, starts = false) {
            worker.execute(position, count);
            for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
                char* sum = folds[o].top();
                const char* values = worker.values(o);
                if (starts)
                    std::memcpy(sum, values, static_cast<std::size_t>(count * output.bytes));
                else
                    output.merge(sum, sum, values, values, count);
            });
            worker.move(axis, 1);
        }
        for_reducing(job.program, [&](std::size_t o, auto&) { folds[o].push(); });
    }
    worker.move(axis, -row);
}

void run_outer_reduction(const Job& job, Arena& arena) {
    const auto axis = static_cast<std::size_t>(reduced_axis(job.program, job.run));
    const std::int64_t all_leaves = leaf_count(job.run.shape[axis], leaf_rows);
    const std::int64_t block = std::min<std::int64_t>(512, job.points);
    const std::int64_t per_row = leaf_count(job.points, block);
    const std::int64_t tiles = job.rows * per_row;
    const std::int64_t pieces = tiles < few_tiles ? leaf_count(all_leaves, piece_row_leaves) : 1;
    const std::int64_t leaves = pieces > 1 ? piece_row_leaves : all_leaves;
    // Partial values of one output lie as [tile][piece][column].
    std::vector<char> partial;
    const auto per_output = static_cast<std::size_t>(tiles * pieces * block * 8);
    if (pieces > 1) partial.resize(per_output * job.program.outputs.size());
    auto partial_of = [&](std::size_t o, std::int64_t unit) {
        return partial.data() + o * per_output + unit * block * 8;
    };
    share(job, tiles * pieces, block * leaves * leaf_rows, block, arena,
          [&](Worker& worker, Arena& own, std::int64_t begin, std::int64_t end) {
              Fold* folds = take_folds(job.program, block, leaves, own);
              for (std::int64_t unit = begin; unit < end; ++unit) {
                  const std::int64_t tile = unit / pieces, piece = unit % pieces;
                  const std::int64_t position = tile % per_row * block;
                  const std::int64_t count = std::min(block, job.points - position);
                  worker.seek(tile / per_row);
                  fold_columns(job, worker, folds, position, count, piece * leaves,
                               std::min(all_leaves, (piece + 1) * leaves));
                  for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
                      const char* sum = folds[o].result();
                      if (pieces > 1) {
                          std::memcpy(partial_of(o, unit), sum,
                                      static_cast<std::size_t>(count * output.bytes));
                          return;
                      }
                      const std::int64_t stride = job.run.outputs[o].strides.back();
                      store_row(job.run, o, output,
                                worker.output(o) + position * stride * output.bytes, sum, count);
                  });
              }
          });
    if (pieces == 1) return;
    Worker worker(job.program, job.run, job.plan, 1, arena);
    Fold* folds = take_folds(job.program, block, pieces, arena);
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        const std::int64_t position = tile % per_row * block;
        const std::int64_t count = std::min(block, job.points - position);
        worker.seek(tile / per_row);
        for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
            folds[o].reset();
            for (std::int64_t piece = 0; piece < pieces; ++piece) {
                std::memcpy(folds[o].top(), partial_of(o, tile * pieces + piece),
                            static_cast<std::size_t>(count * output.bytes));
                folds[o].push();
            }
            const std::int64_t stride = job.run.outputs[o].strides.back();
            store_row(job.run, o, output, worker.output(o) + position * stride * output.bytes,
                      folds[o].result(), count);
        });
    }
}

/// An empty reduced axis gives the identity everywhere.
void fill_identity(const Job& job, Arena& arena) {
    Worker worker(job.program, job.run, job.plan, 1, arena);
    const bool inner =
        reduced_axis(job.program, job.run) + 1 == static_cast<int>(job.run.shape.size());
    const std::int64_t count = inner ? 1 : job.points;
    for (std::int64_t row = 0; row < job.rows; ++row) {
        for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
            const Scalar value = identity(output.op, output.dtype);
            const std::int64_t stride = job.run.outputs[o].strides.back();
            for (std::int64_t i = 0; i < count; ++i) {
                char* to = worker.output(o) + i * stride * output.bytes;
                std::memcpy(to, &value.bits, output.bytes);
            }
        });
        worker.next_row();
    }
}

bool should_stream(const Program& program, const GroupRun& run, std::int64_t total) {
    std::int64_t bytes = 0;
    for (std::uint8_t size : program.input_bytes) bytes += size;
    for (const OutputInfo& output : program.outputs) bytes += output.bytes;
    return bytes * total >= stream_bytes && run.shape.back() >= 256;
}

}  // namespace

void execute(const Program& program, const GroupRun& run) {
    alignas(64) std::byte memory[stack_bytes];
    Arena arena(memory);
    std::int64_t rows = 1;
    for (std::size_t axis = 0; axis + 1 < run.shape.size(); ++axis) {
        if (static_cast<int>(axis) != reduced_axis(program, run)) rows *= run.shape[axis];
    }
    const std::int64_t points = run.shape.back();
    const bool reduces = reduced_axis(program, run) >= 0;
    const bool inner = reduced_axis(program, run) + 1 == static_cast<int>(run.shape.size());
    const std::int64_t reduced =
        reduces ? run.shape[static_cast<std::size_t>(reduced_axis(program, run))] : 1;
    if (rows == 0 || (points == 0 && !(reduces && inner))) return;

    const bool streams =
        !reduces && rows * points >= 1 << 20 && should_stream(program, run, rows * points);
    const Plan special =
        streams || !is_contiguous(run) ? program.plan(run, streams, arena) : Plan{};
    const Job job{program, run, streams || !is_contiguous(run) ? special : program.usual, rows,
                  points};
    if (!reduces)
        run_elementwise(job, streams, arena);
    else if (reduced == 0)
        fill_identity(job, arena);
    else if (inner)
        run_inner_reduction(job, arena);
    else
        run_outer_reduction(job, arena);
}

}  // namespace unisono::block
