// Runs groups that reduce an axis, in the order of ops/reduction_tree.h.
//
// Along the innermost axis a unit of work is a row, or an aligned piece of 2^k leaves of a long
// row, folded into one value; short rows are taken together. Along another axis it is a tile of
// columns and all leaves of 8 rows or, where there are few tiles, an aligned piece of 2^k leaves,
// folded into one value per column. What pieces give is folded at the end, by the same tree.
#include <cstring>
#include <vector>

#include "backends/block/job.h"
#include "ops/reduction_tree.h"

namespace unisono::block {
namespace {

using reduction::leaf_count;
using reduction::leaf_elements;
using reduction::leaf_rows;
using reduction::tree_merges;

constexpr std::int64_t piece_leaves = 64;      ///< of a long innermost axis, per unit
constexpr std::int64_t piece_row_leaves = 32;  ///< of a long outer axis, per unit
constexpr std::int64_t few_tiles = 16;
constexpr std::int64_t tile_columns = 4096;  ///< long enough for the memory to stream

/// A stack of node values, `width` elements each, folded by the binary tree.
class Fold {
  public:
    Fold(const OutputInfo& output, std::int64_t width, std::int64_t nodes, Arena& arena)
        : output_(output), width_(width), bytes_(static_cast<std::size_t>(width) * output.bytes) {
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

/// Partial values of pieces: [output][unit][column].
class Partials {
  public:
    Partials(const Program& program, std::int64_t units, std::int64_t width)
        : per_output_(static_cast<std::size_t>(units * width) * program.widest),
          unit_(static_cast<std::size_t>(width) * program.widest),
          values_(per_output_ * program.outputs.size()) {}
    char* at(std::size_t output, std::int64_t unit) {
        return values_.data() + output * per_output_ + static_cast<std::size_t>(unit) * unit_;
    }

  private:
    std::size_t per_output_, unit_;
    std::vector<char> values_;
};

/// The fold of `pieces` values of one output, which lie in consecutive units.
const char* fold_pieces(Fold& fold, Partials& partials, std::size_t output, std::int64_t first,
                        std::int64_t pieces, std::size_t bytes) {
    fold.reset();
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
        std::memcpy(fold.top(), partials.at(output, first + piece), bytes);
        fold.push();
    }
    return fold.result();
}

void store_strided(char* to, std::int64_t stride, const char* from, std::int64_t count,
                   std::int64_t bytes) {
    if (stride == 1) {
        std::memcpy(to, from, static_cast<std::size_t>(count * bytes));
        return;
    }
    for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * stride * bytes, from + i * bytes, static_cast<std::size_t>(bytes));
}

/// Rows of at most one leaf each, many per block.
void reduce_short_rows(const Job& job, Arena& arena) {
    const std::size_t row_axis = job.run.shape.size() - 2;
    const std::int64_t extent = job.run.shape[row_axis];
    const std::int64_t rows = std::min(extent, block_rows(job.program, job.points));
    const std::int64_t per_plane = leaf_count(extent, rows);
    share(job, job.rows / extent * per_plane, rows * job.points, rows * job.points, arena,
          [&](Worker& worker, Arena& own, std::int64_t begin, std::int64_t end) {
              char* results = static_cast<char*>(
                  own.take_bytes(static_cast<std::size_t>(rows) * job.program.widest));
              for (std::int64_t tile = begin; tile < end; ++tile) {
                  const std::int64_t first = tile % per_plane * rows;
                  const std::int64_t count = std::min(rows, extent - first);
                  worker.seek(tile / per_plane * extent + first);
                  worker.execute(0, count * job.points);
                  for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
                      output.leaves(results, worker.values(o), job.points, count);
                      store_strided(worker.output(o), job.run.outputs[o].strides[row_axis], results,
                                    count, output.bytes);
                  });
              }
          });
}

void store_columns(const Job& job, const Worker& worker, std::size_t o, std::int64_t position,
                   std::int64_t count, const char* from) {
    const std::int64_t bytes = job.program.outputs[o].bytes;
    const std::int64_t stride = job.run.outputs[o].strides.back();
    store_strided(worker.output(o) + position * stride * bytes, stride, from, count, bytes);
}

/// How run_outer_reduction cuts its work: tiles of columns, times pieces of the reduced axis.
struct Cut {
    std::int64_t width, per_row, tiles, all_leaves, pieces, leaves, block, rows;

    explicit Cut(const Job& job) {
        const std::int64_t extent = job.run.shape[static_cast<std::size_t>(job.reduce_axis)];
        width = std::min(tile_columns, job.points);
        per_row = leaf_count(job.points, width);
        tiles = job.rows * per_row;
        all_leaves = leaf_count(extent, leaf_rows);
        pieces = tiles < few_tiles ? leaf_count(all_leaves, piece_row_leaves) : 1;
        leaves = pieces > 1 ? piece_row_leaves : all_leaves;
        block = std::min(block_points(job.program), width);
        rows = 1;  // per call of execute
        if (job.plan.by_rows) {
            rows = std::min(extent, block_rows(job.program, width));
            block = rows * width;
        }
    }
};

/// Folds leaves [first, last) of the reduced axis for `count` columns from `position` on.
void fold_columns(const Job& job, const Cut& cut, Worker& worker, Fold* folds,
                  std::int64_t position, std::int64_t count, std::int64_t first,
                  std::int64_t last) {
    const auto axis = static_cast<std::size_t>(job.reduce_axis);
    const std::int64_t end = std::min(job.run.shape[axis], last * leaf_rows);
    const std::int64_t step = job.plan.by_rows ? count : std::min(cut.block, count);
    for_reducing(job.program, [&](std::size_t o, auto&) { folds[o].reset(); });
    std::int64_t row = first * leaf_rows, at = 0;
    while (row < end) {
        const std::int64_t rows = std::min(cut.rows, end - row);
        if (at != row) worker.move(axis, row - at);
        at = row;
        for (std::int64_t column = 0; column < count; column += step) {
            const std::int64_t columns = std::min(step, count - column);
            worker.execute(position + column, rows * columns);
            for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
                const char* values = worker.values(o);
                const auto bytes = static_cast<std::size_t>(columns * output.bytes);
                for (std::int64_t r = row; r < row + rows; ++r, values += bytes) {
                    char* sum = folds[o].top() + column * output.bytes;
                    if (r % leaf_rows == 0)
                        std::memcpy(sum, values, bytes);
                    else
                        output.merge(sum, sum, values, values, columns);
                    // Several rows at once come with all columns: their leaves end here.
                    const bool ends = (r + 1) % leaf_rows == 0 || r + 1 == end;
                    if (ends && column + columns == count) folds[o].push();
                }
            });
        }
        row += rows;
    }
    if (at != 0) worker.move(axis, -at);
}

}  // namespace

void run_inner_reduction(const Job& job, Arena& arena) {
    if (job.plan.by_rows) return reduce_short_rows(job, arena);
    const std::int64_t all_leaves = leaf_count(job.points, leaf_elements);
    const std::int64_t pieces = leaf_count(all_leaves, piece_leaves);
    const std::int64_t leaves = std::min(all_leaves, piece_leaves);
    const std::int64_t block = std::min(leaf_elements, job.points);
    Partials partials(job.program, pieces > 1 ? job.rows * pieces : 0, 1);
    share(job, job.rows * pieces, std::min(job.points, leaves * leaf_elements), block, arena,
          [&](Worker& worker, Arena& own, std::int64_t begin, std::int64_t end) {
              Fold* folds = take_folds(job.program, 1, leaves, own);
              worker.seek(begin / pieces);
              for (std::int64_t unit = begin; unit < end; ++unit) {
                  const std::int64_t piece = unit % pieces;
                  std::int64_t position = piece * piece_leaves * leaf_elements;
                  const std::int64_t stop =
                      std::min(job.points, position + piece_leaves * leaf_elements);
                  for_reducing(job.program, [&](std::size_t o, auto&) { folds[o].reset(); });
                  for (; position < stop; position += leaf_elements) {
                      const std::int64_t count = std::min(leaf_elements, stop - position);
                      worker.execute(position, count);
                      for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
                          output.leaf(folds[o].top(), worker.values(o), count);
                          folds[o].push();
                      });
                  }
                  for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
                      char* to = pieces > 1 ? partials.at(o, unit) : worker.output(o);
                      std::memcpy(to, folds[o].result(), output.bytes);
                  });
                  if (piece + 1 == pieces) worker.next_row();
              }
          });
    if (pieces == 1) return;
    Worker worker(job.program, job.run, job.plan, 1, arena);
    Fold* folds = take_folds(job.program, 1, pieces, arena);
    for (std::int64_t row = 0; row < job.rows; ++row) {
        for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
            std::memcpy(worker.output(o),
                        fold_pieces(folds[o], partials, o, row * pieces, pieces, output.bytes),
                        output.bytes);
        });
        worker.next_row();
    }
}

void run_outer_reduction(const Job& job, Arena& arena) {
    const Cut cut(job);
    Partials partials(job.program, cut.pieces > 1 ? cut.tiles * cut.pieces : 0, cut.width);
    auto columns = [&](std::int64_t tile, auto&& f) {
        const std::int64_t position = tile % cut.per_row * cut.width;
        f(position, std::min(cut.width, job.points - position));
    };
    auto run_unit = [&](Worker& worker, Fold* folds, std::int64_t unit) {
        const std::int64_t tile = unit / cut.pieces, first = unit % cut.pieces * cut.leaves;
        columns(tile, [&](std::int64_t position, std::int64_t count) {
            fold_columns(job, cut, worker, folds, position, count, first,
                         std::min(cut.all_leaves, first + cut.leaves));
            for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
                const char* sum = folds[o].result();
                if (cut.pieces == 1)
                    store_columns(job, worker, o, position, count, sum);
                else
                    std::memcpy(partials.at(o, unit), sum,
                                static_cast<std::size_t>(count * output.bytes));
            });
        });
    };
    share(job, cut.tiles * cut.pieces, cut.width * cut.leaves * leaf_rows, cut.block, arena,
          [&](Worker& worker, Arena& own, std::int64_t begin, std::int64_t end) {
              Fold* folds = take_folds(job.program, cut.width, cut.leaves, own);
              const std::int64_t units = cut.pieces * cut.per_row;  // of one row
              worker.seek(begin / units);
              for (std::int64_t unit = begin; unit < end; ++unit) {
                  if (unit > begin && unit % units == 0) worker.next_row();
                  run_unit(worker, folds, unit);
              }
          });
    if (cut.pieces == 1) return;
    Worker worker(job.program, job.run, job.plan, 1, arena);
    Fold* folds = take_folds(job.program, cut.width, cut.pieces, arena);
    for (std::int64_t tile = 0; tile < cut.tiles; ++tile) {
        worker.seek(tile / cut.per_row);
        columns(tile, [&](std::int64_t position, std::int64_t count) {
            for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
                const auto bytes = static_cast<std::size_t>(count * output.bytes);
                store_columns(
                    job, worker, o, position, count,
                    fold_pieces(folds[o], partials, o, tile * cut.pieces, cut.pieces, bytes));
            });
        });
    }
}

void fill_identity(const Job& job, Arena& arena) {
    Worker worker(job.program, job.run, job.plan, 1, arena);
    const bool inner = job.reduce_axis + 1 == static_cast<int>(job.run.shape.size());
    const std::int64_t count = inner ? 1 : job.points;
    for (std::int64_t row = 0; row < job.rows; ++row) {
        for_reducing(job.program, [&](std::size_t o, const OutputInfo& output) {
            const DType part = part_dtype(output.dtype);
            const Scalar value = identity(output.op, part);
            for (std::int64_t i = 0; i < count; ++i) {
                char* to = worker.output(o) + i * job.run.outputs[o].strides.back() * output.bytes;
                std::memset(to, 0, output.bytes);
                std::memcpy(to, &value.bits, static_cast<std::size_t>(size_of(part)));
            }
        });
        worker.next_row();
    }
}

}  // namespace unisono::block
