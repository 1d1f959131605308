// Writes the tests of all steps in front of the loop, and the steps strip by strip.
#include "passes/loops/steps_by_rows.h"

#include <algorithm>
#include <utility>

#include "passes/analysis/nests_of_steps.h"
#include "passes/cleanup/replace_reads.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

// Strips are worth their tests where rows are reached in so many places, so often.
constexpr std::int64_t least_places = 64, least_steps = 4;

class StepsByRows final : public Rewriter {
  public:
    explicit StepsByRows(Function& f) : Rewriter(f), memories_(f) {}

    E expr(E e) override { return e; }
    S stmt(S s) override {
        S loop = children(s);
        if (loop != s || loop->kind != StmtKind::For) return loop;
        NestsOfSteps steps(function(), memories_, loop);
        return steps.find() ? write(loop, steps) : loop;
    }

  private:
    E both(E a, E b) { return a ? b_.binary(Op::And, a, b) : b; }

    S write(S loop, const NestsOfSteps& steps) {
        b_.line = loop->line;
        const std::int32_t apart = b_.var("apart", DType::Bool);
        S tests = test_all(loop, steps, apart);
        S strips = in_strips(loop, steps);
        return b_.block(
            {b_.declare(apart, b_.boolean(false)), tests, b_.branch(b_.read(apart), strips, loop)});
    }

    /// Sets `apart` where all that was assumed holds in all steps, and rows are apart.
    S test_all(S loop, const NestsOfSteps& steps, std::int32_t apart) {
        const std::unordered_set<E> none;
        Replace now(function(), none);
        for (S s : steps.once) {
            if (s->kind == StmtKind::Declare || s->kind == StmtKind::Assign)
                now.by[s->id] = now.expr(s->args[0]);
        }
        std::vector<S> body, before;
        for (S s : steps.declared) {
            if (!steps.is_loaded(b_.read(s->id)))
                body.push_back(b_.declare(s->id, now.expr(s->args[0])));
        }
        E all = nullptr;
        for (const Condition& c : steps.known) {
            E test = now.expr(c.test);
            all = both(all, c.holds ? test : b_.unary(Op::Not, test));
        }
        for (const Nest& nest : steps.nests) {
            if (!same(nest.loops[0]->args[1], steps.row_count()))
                all = both(all, b_.binary(Op::Eq, now.expr(nest.loops[0]->args[1]),
                                          now.expr(steps.row_count())));
        }
        all = both(all, rows_apart(loop, steps, now, before, body));
        body.push_back(b_.assign(apart, both(b_.read(apart), simplified(b_, all))));
        before.push_back(b_.assign(apart, b_.boolean(true)));
        before.push_back(b_.loop(LoopKind::Serial, loop->id, loop->args[0], loop->args[1],
                                 loop->args[2], b_.block(body)));
        E places = now.expr(b_.mul(steps.row_count(), row_length(steps)));
        std::int64_t step = 0;
        is_constant(loop->args[2], step);
        E span =
            step > 0 ? b_.sub(loop->args[1], loop->args[0]) : b_.sub(loop->args[0], loop->args[1]);
        E worth =
            b_.binary(Op::And, b_.binary(Op::Ge, places, b_.i64(least_places)),
                      b_.binary(Op::Ge, span, b_.i64(least_steps * (step > 0 ? step : -step))));
        return b_.branch(worth, b_.block(before));
    }

    /// Whether what a step reaches of stored memory lies in the row of each iteration. Rows begin
    /// where those of the first step do.
    E rows_apart(S loop, const NestsOfSteps& steps, Replace& now, std::vector<S>& before,
                 std::vector<S>& body) {
        struct Rows {
            E stride;
            std::int32_t first, behind;
        };
        std::unordered_map<std::size_t, Rows> rows;
        std::unordered_set<std::int32_t> seen;
        E all = nullptr;
        for (const Touched& t : steps.touched) {
            for (const RowAccess& a : t.accesses) {
                if (!steps.is_stored(a.array) || !seen.insert(a.array).second) continue;
                const Array array = function().arrays[static_cast<std::size_t>(a.array)];
                E offset = array.offset ? now.expr(array.offset) : b_.i64(0);
                E stride = now.expr(b_.stride(a.array, 0));
                auto [at, is_new] = rows.try_emplace(memories_.of(a.array));
                Rows& r = at->second;
                if (is_new) {
                    r = {stride, b_.var("first", DType::Int64), b_.var("behind", DType::Int64)};
                    before.push_back(b_.declare(r.first, b_.i64(0)));
                    E begins = b_.binary(Op::Eq, b_.read(loop->id), loop->args[0]);
                    E first = b_.mul(b_.binary(Op::FloorDiv, offset, stride), stride);
                    body.push_back(b_.assign(r.first, b_.select(begins, first, b_.read(r.first))));
                    body.push_back(b_.declare(r.behind, b_.add(b_.read(r.first), stride)));
                    all = both(all, b_.binary(Op::Gt, stride, b_.i64(0)));
                } else if (!same(stride, r.stride)) {
                    all = both(all, b_.binary(Op::Eq, stride, r.stride));
                }
                E low = offset, high = offset;
                for (std::size_t k = 1; k < a.indices.size(); ++k) {
                    E along =
                        b_.mul(b_.sub(now.expr(b_.extent(a.array, static_cast<int>(k))), b_.i64(1)),
                               now.expr(b_.stride(a.array, static_cast<int>(k))));
                    low = b_.add(low, b_.binary(Op::Min, along, b_.i64(0)));
                    high = b_.add(high, b_.binary(Op::Max, along, b_.i64(0)));
                }
                all = both(all, b_.binary(Op::Ge, low, b_.read(r.first)));
                all = both(all, b_.binary(Op::Lt, high, b_.read(r.behind)));
            }
        }
        return all;
    }

    /// Iterations of the nests below the rows.
    E row_length(const NestsOfSteps& steps) {
        E longest = b_.i64(1);
        std::size_t most = 0;
        for (const Nest& nest : steps.nests) {
            E length = nullptr;
            for (std::size_t k = 1; k < nest.loops.size(); ++k) {
                E n = nest.loops[k]->args[1];
                length = length ? b_.mul(length, n) : n;
            }
            if (!length || has_load(length) || steps.varies(length) || nest.loops.size() <= most)
                continue;
            longest = length;
            most = nest.loops.size();
        }
        return longest;
    }

    S in_strips(S loop, const NestsOfSteps& steps) {
        std::vector<S> all = steps.once;
        // A few rows where they are short, so that one need not wait for what the step before
        // stored to it.
        const RowStrips strips(b_, simplified(b_, row_length(steps)), {32, 16, 8},
                               steps.row_count());
        all.insert(all.end(), strips.in_front().begin(), strips.in_front().end());
        std::vector<S> step = steps.declared;
        bool is_parallel = true;
        for (const Nest& nest : steps.nests) {
            S outer = nest.loops[0];
            is_parallel = is_parallel && outer->loop == LoopKind::Parallel;
            const bool is_innermost = !nest.has_loops(1);
            Stmt part = *outer;
            part.loop = is_innermost && outer->loop != LoopKind::Serial ? LoopKind::Vector
                                                                        : LoopKind::Serial;
            part.args = b_.list(std::vector<E>{strips.begin(), strips.end(), b_.i64(1)});
            step.push_back(b_.own(part));
        }
        S through = b_.loop(LoopKind::Serial, loop->id, loop->args[0], loop->args[1], loop->args[2],
                            b_.block(step));
        all.push_back(strips.loop(is_parallel ? LoopKind::Parallel : LoopKind::Serial,
                                  std::vector<S>{through}));
        return b_.block(all);
    }

    Memories memories_;
};

}  // namespace

void steps_by_rows(Module& module) {
    for (Function& f : module.functions) {
        if (f.body) StepsByRows(f).run();
    }
}

}  // namespace unisono::passes
