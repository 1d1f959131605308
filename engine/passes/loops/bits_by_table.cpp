// Cuts the bits that decide into rows of tables, and writes these.
#include "passes/loops/bits_by_table.h"

#include <algorithm>

#include "passes/analysis/linear_bits.h"
#include "passes/analysis/linear_forms.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::int64_t least_iterations = 4;
constexpr std::int64_t most_iterations = 32;
constexpr int row_bits = 8;  ///< a table has a row for each value of so many bits
constexpr std::size_t most_tables = 4;

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

class BitsByTable final : public Rewriter {
  public:
    using Rewriter::Rewriter;

    S stmt(S s) override {
        S now = children(s);
        if (!is_plain_loop(now)) return now;
        std::vector<S> body;
        flatten(now->body, body);
        std::vector<S> tables;
        least_trips_ = 0;
        bool found = false;
        for (std::size_t k = 0; k < body.size(); ++k)
            found = by_table(now, body, k, tables) || found;
        if (!found) return now;
        b_.line = now->line;
        E test = b_.binary(Op::Gt, b_.sub(now->args[1], now->args[0]), b_.i64(least_trips_));
        tables.push_back(with_body(now, body, {}));
        return b_.branch(simplified(b_, test), b_.block(tables), now);
    }

  private:
    /// The bits [first, first + bits) of a variable choose a row of tables, one per result.
    struct Chunk {
        std::int32_t state;
        int first, bits;
        std::vector<std::int32_t> tables;  ///< arrays
        std::int64_t rows() const { return std::int64_t{1} << bits; }
    };

    /// Replaces body[at] where it is such a loop.
    bool by_table(S outer, std::vector<S>& body, std::size_t place, std::vector<S>& tables) {
        S loop = body[place];
        std::int64_t begin = 0;
        std::int64_t end = 0;
        if (!is_plain_loop(loop) || !is_constant(loop->args[0], begin) ||
            !is_constant(loop->args[1], end) || begin < 0 || end - begin < least_iterations ||
            end - begin > most_iterations)
            return false;
        std::vector<bool> changes(function().vars.size());
        mark_written(outer, changes);
        const auto linear = linear_loop(function(), changes, loop, begin, end);
        if (!linear) return false;
        Names around(function());
        std::vector<bool> inside(function().vars.size());
        for (std::size_t k = 0; k < body.size(); ++k) {
            if (body[k]->kind == StmtKind::Declare) inside[at(body[k]->id)] = true;
            if (k != place) around.stmt(body[k]);
        }
        std::vector<std::int32_t> results;
        for (const LinearLoop::State& s : linear->states) {
            if (s.var == outer->id) return false;
            if (s.is_written && (!inside[at(s.var)] || around.read[at(s.var)]))
                results.push_back(s.var);
        }
        std::vector<Chunk> chunks = cut(*linear);
        if (results.empty() || chunks.empty() || chunks.size() * results.size() > most_tables)
            return false;
        for (const Chunk& c : chunks)
            least_trips_ += c.rows() * static_cast<std::int64_t>(results.size()) / (end - begin);
        b_.line = loop->line;
        make_tables(*linear, inside, loop, results, chunks, tables);
        body[place] = look_up(*linear, loop, results, chunks);
        return true;
    }

    std::vector<Chunk> cut(const LinearLoop& linear) {
        std::vector<Chunk> chunks;
        for (const LinearLoop::State& s : linear.states) {
            const int bits = static_cast<int>(size_of(dtype(s.var))) * 8;
            for (int k = 0; k < bits; ++k) {
                if (!((s.decisive >> k) & 1)) continue;
                chunks.push_back({s.var, k, std::min(row_bits, bits - k), {}});
                k += row_bits - 1;
            }
        }
        return chunks;
    }

    void make_tables(const LinearLoop& linear, const std::vector<bool>& inside, S loop,
                     const std::vector<std::int32_t>& results, std::vector<Chunk>& chunks,
                     std::vector<S>& out) {
        std::vector<S> restored;
        for (const auto& [v, is_written, decisive] : linear.states) {
            if (inside[at(v)]) continue;
            std::int32_t saved = b_.var("saved", dtype(v));
            out.push_back(b_.declare(saved, b_.read(v)));
            restored.push_back(b_.assign(v, b_.read(saved)));
        }
        for (Chunk& c : chunks) {
            std::int32_t bit = b_.var("bit", DType::Int64);
            std::vector<S> once;
            for (const auto& [v, is_written, decisive] : linear.states) {
                E start = b_.zero(dtype(v));
                if (v == c.state) {
                    E place = b_.add(b_.read(bit), b_.i64(c.first));
                    start = b_.binary(Op::Shl, b_.constant(Scalar::of(dtype(v), 1)),
                                      b_.cast(place, dtype(v)));
                }
                once.push_back(inside[at(v)] ? b_.declare(v, start) : b_.assign(v, start));
            }
            once.push_back(loop);
            for (std::int32_t v : results) {
                std::int32_t table = b_.local_array("table", dtype(v), 1, Space::Private);
                E extent = b_.i64(c.rows());
                out.push_back(b_.allocate(table, std::span<const E>(&extent, 1)));
                out.push_back(store(table, b_.i64(0), b_.zero(dtype(v))));
                once.push_back(fill(table, b_.read(bit), b_.read(v)));
                c.tables.push_back(table);
            }
            out.push_back(b_.loop(LoopKind::Serial, bit, b_.i64(0), b_.i64(c.bits), b_.i64(1),
                                  b_.block(once)));
        }
        out.insert(out.end(), restored.begin(), restored.end());
    }

    /// The rows with this bit and lower ones: those of the lower ones, and what the bit adds.
    S fill(std::int32_t table, E bit, E value) {
        std::int32_t row = b_.var("row", DType::Int64);
        E half = b_.binary(Op::Shl, b_.i64(1), bit);
        E both = b_.binary(Op::Xor, load(table, b_.read(row)), value);
        return b_.loop(LoopKind::Serial, row, b_.i64(0), half, b_.i64(1),
                       store(table, b_.add(half, b_.read(row)), both));
    }

    E load(std::int32_t table, E row) { return b_.load(table, std::span<const E>(&row, 1)); }
    S store(std::int32_t table, E row, E value) {
        return b_.store(table, std::span<const E>(&row, 1), value);
    }

    S look_up(const LinearLoop& linear, S loop, const std::vector<std::int32_t>& results,
              const std::vector<Chunk>& chunks) {
        std::vector<S> out, restored;
        std::vector<E> rows;
        for (const Chunk& c : chunks) {
            const DType t = dtype(c.state);
            std::int32_t row = b_.var("row", DType::Int64);
            E low = b_.binary(Op::Shr, b_.read(c.state), b_.constant(Scalar::of(t, c.first)));
            E bits = b_.binary(Op::And, low, b_.constant(Scalar::of(t, c.rows() - 1)));
            out.push_back(b_.declare(row, b_.cast(bits, DType::Int64)));
            rows.push_back(b_.read(row));
        }
        for (const auto& [v, is_written, decisive] : linear.states) {
            std::uint64_t mask = ~std::uint64_t{0};
            for (const Chunk& c : chunks) {
                if (c.state == v) mask &= ~((static_cast<std::uint64_t>(c.rows()) - 1) << c.first);
            }
            if (!is_written) {
                std::int32_t saved = b_.var("saved", dtype(v));
                out.push_back(b_.declare(saved, b_.read(v)));
                restored.push_back(b_.assign(v, b_.read(saved)));
            }
            E kept = b_.constant(Scalar::of(dtype(v), static_cast<std::int64_t>(mask)));
            out.push_back(b_.assign(v, b_.binary(Op::And, b_.read(v), kept)));
        }
        out.push_back(linear.otherwise(function(), loop));
        for (std::size_t r = 0; r < results.size(); ++r) {
            E sum = b_.read(results[r]);
            for (std::size_t c = chunks.size(); c-- > 0;) {
                sum = b_.binary(Op::Xor, sum, load(chunks[c].tables[r], rows[c]));
            }
            out.push_back(b_.assign(results[r], sum));
        }
        out.insert(out.end(), restored.begin(), restored.end());
        return b_.block(out);
    }

    DType dtype(std::int32_t var) { return function().vars[at(var)].dtype; }

    std::int64_t least_trips_ = 0;  ///< of all tables of the loop at hand
};

}  // namespace

void bits_by_table(Module& module) {
    for (Function& f : module.functions) {
        if (f.body) BitsByTable(f).run();
    }
}

}  // namespace unisono::passes
