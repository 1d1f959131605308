// Writes the iterations of the loops that column_sums.h finds as lanes.
#include "passes/loops/sums_in_lanes.h"

#include <algorithm>
#include <bit>
#include <span>

#include "passes/analysis/column_sums.h"
#include "passes/analysis/columns_apart.h"
#include "passes/analysis/linear_forms.h"
#include "passes/cleanup/replace_reads.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::int64_t lane_bytes = 64;  // of a group of lanes: the longest vectors
// In flight, by what is left: the more lie side by side in a row, the fewer rows are read.
constexpr std::int64_t group_counts[] = {8, 4, 1};
// The same of a piece of the columns, which a thread takes through all rows.
constexpr std::int64_t piece_groups[] = {4, 1};
constexpr std::int64_t least_pieces = 4;

/// The logarithm of a power of two.
std::int64_t bits_of(std::int64_t width) {
    return std::countr_zero(static_cast<std::uint64_t>(width));
}

class SumsInLanes final : public Rewriter {
  public:
    using Rewriter::Rewriter;

    S stmt(S s) override {
        S changed = children(s);
        auto sum = find_column_sum(changed);
        if (!sum) return in_columns(changed);
        S lanes = in_lanes(*sum);
        return lanes ? lanes : changed;
    }

  private:
    /// The last loop that runs in lanes.
    struct Made {
        ColumnSum sum;
        E test = nullptr;
        S whole = nullptr;
    };

    S in_lanes(const ColumnSum& sum) {
        b_.line = sum.outer->line;
        E test = condition(sum);
        if (!test) return nullptr;
        lanes_ = lane_bytes / size_of(type_of(sum));
        E count = simplified(b_, b_.sub(sum.outer->args[1], sum.outer->args[0]));
        test = simplified(b_, b_.binary(Op::And, b_.binary(Op::Ge, count, b_.i64(lanes_)), test));
        made_ = Made{sum, test, in_groups(sum, test, group_counts)};
        return made_->whole;
    }

    /// The type of the first sum, or of what is stored.
    static DType type_of(const ColumnSum& sum) {
        for (const ColumnStep& step : sum.steps) {
            if (step.term) return step.term->dtype;
        }
        auto loops = [](const ColumnStep& step) { return step.is_loop(); };
        const auto first = std::find_if(sum.steps.begin(), sum.steps.end(), loops);
        return first->body.back()->args.back()->dtype;
    }

    /// A loop over rows around such sums, columns of which are apart in all rows: threads take
    /// pieces of the columns, each from the first row to the last.
    S in_columns(S rows) {
        if (!made_ || rows->kind != StmtKind::For) return rows;
        std::vector<S> body, own;
        flatten(rows->body, body);
        flatten({&made_->whole, 1}, own);
        if (body != own || has_load(made_->test)) return rows;
        const ColumnSum& sum = made_->sum;
        E apart = columns_apart(b_, sum, rows);
        if (!apart) return rows;
        b_.line = rows->line;
        E begin = sum.outer->args[0];
        E end = sum.outer->args[1];
        E count = simplified(b_, b_.sub(end, begin));
        E width = b_.i64(piece_groups[0] * lanes_);
        // Whether each row's sums may run in lanes, which the row alone decides.
        std::int32_t always = b_.var("always", DType::Bool);
        E enough = b_.binary(Op::Ge, count, b_.mul(width, b_.i64(least_pieces)));
        S keep = b_.assign(always, b_.binary(Op::And, b_.read(always), made_->test));
        S look = b_.loop(LoopKind::Serial, rows->id, rows->args[0], rows->args[1], b_.i64(1), keep);
        std::int32_t number = b_.var("piece", DType::Int64);
        std::int32_t from = b_.var("from", DType::Int64);
        std::int32_t to = b_.var("to", DType::Int64);
        ColumnSum piece = sum;
        Stmt outer = *sum.outer;
        const E bounds[] = {b_.read(from), b_.read(to), outer.args[2]};
        outer.args = b_.list(bounds);
        piece.outer = b_.own(outer);
        S each_row = b_.loop(LoopKind::Serial, rows->id, rows->args[0], rows->args[1], b_.i64(1),
                             in_groups(piece, nullptr, piece_groups));
        S all_rows = b_.block(
            {b_.declare(from, b_.add(begin, b_.mul(b_.read(number), width))),
             b_.declare(to, b_.binary(Op::Min, end, b_.add(b_.read(from), width))), each_row});
        E pieces = b_.add(b_.i64(1), b_.binary(Op::Shr, b_.sub(count, b_.i64(1)),
                                               b_.i64(bits_of(piece_groups[0] * lanes_))));
        S shared = b_.loop(LoopKind::Parallel, number, b_.i64(0), pieces, b_.i64(1), all_rows);
        made_.reset();
        return b_.block({b_.declare(always, simplified(b_, b_.binary(Op::And, enough, apart))),
                         b_.branch(b_.read(always), look),
                         b_.branch(b_.read(always), shared, rows)});
    }

    /// The loop as groups of lanes, as many of each count as there are, and what is left.
    S in_groups(const ColumnSum& sum, E test, std::span<const std::int64_t> counts) {
        E begin = sum.outer->args[0];
        E end = sum.outer->args[1];
        std::int32_t first = b_.var("first", DType::Int64);
        std::vector<S> fast;
        for (std::int64_t groups : counts) {
            E left = b_.sub(end, b_.read(first));
            fast.push_back(strips(sum, first, left, groups));
            fast.push_back(b_.assign(first, b_.add(b_.read(first), whole(left, groups * lanes_))));
        }
        S groups = as_one(b_, fast);
        return b_.block({b_.declare(first, begin), test ? b_.branch(test, groups) : groups,
                         one_by_one(sum, b_.read(first))});
    }

    /// What must hold for lanes, or null.
    E condition(const ColumnSum& sum) {
        LoopNest nest(b_, sum.outer, sum.inner);
        std::vector<NestAccess> all;
        E bounds = nullptr;
        bool gains = false;
        low_ = high_ = nullptr;
        for (const ColumnStep& step : sum.steps) {
            if (!step.is_loop()) {
                if (!touches(nest, step.statement, step.sum >= 0, all)) return nullptr;
                continue;
            }
            if (!takes_bounds(nest, step, bounds)) return nullptr;
            const std::size_t first = all.size();
            for (S s : step.body) {
                if (!touches(nest, s, false, all)) return nullptr;
            }
            if (step.term && !nest.loads(step.term, all)) return nullptr;
            // Worth it where the lanes lie side by side and the terms of a sum do not.
            for (std::size_t k = first; k < all.size(); ++k) {
                const auto& form = all[k].form;
                if (!form || (form->outer && !is_one(form->outer))) return nullptr;
                gains =
                    gains || (form->outer && form->inner && form->inner->kind != ExprKind::Const);
            }
        }
        E test = gains && !meets_neighbours(all) ? nest.independent(all) : nullptr;
        if (test && bounds) test = b_.binary(Op::And, test, bounds);
        for (E chosen : sum.chosen) {
            E always = test ? nest.always(chosen) : nullptr;
            if (!always) return nullptr;
            test = b_.binary(Op::And, test, always);
        }
        for (E fault : sum.faults) {
            E never = test ? nest.never(fault) : nullptr;
            if (!never) return nullptr;
            test = b_.binary(Op::And, test, never);
        }
        settled_.clear();
        std::vector<E> assumed(nest.assumed().begin(), nest.assumed().end());
        for (const ColumnStep& step : sum.steps) {
            if (step.statement->kind == StmtKind::Declare && step.sum < 0)
                settle(nest, step.statement->args[0], assumed);
        }
        for (auto a = assumed.begin(); test && a != assumed.end(); ++a) {
            bool is_new = std::none_of(assumed.begin(), a, [&](E e) { return same(e, *a); });
            if (is_new) test = b_.binary(Op::And, test, *a);
        }
        return test;
    }

    /// Adds what a statement other than a loop accesses; false if that cannot be analysed.
    static bool touches(LoopNest& nest, S s, bool is_sum, std::vector<NestAccess>& out) {
        if (s->kind == StmtKind::Declare && !is_sum) nest.define(s->id, s->args[0]);
        bool is_known =
            std::all_of(s->args.begin(), s->args.end(), [&](E a) { return nest.loads(a, out); });
        if (s->kind == StmtKind::Store) out.push_back({s->id, true, nest.form(s->args[0])});
        return is_known;
    }

    /// The range of the first loop; that later ones, which take its variable, run over it is added
    /// to the test.
    bool takes_bounds(LoopNest& nest, const ColumnStep& step, E& test) {
        E low = nest.in_front(step.statement->args[0]);
        E high = nest.in_front(step.statement->args[1]);
        if (!low || !high) return false;
        if (!low_) {
            low_ = low;
            high_ = high;
            variable_ = step.statement->id;
            return true;
        }
        for (E equal : {b_.binary(Op::Eq, low, low_), b_.binary(Op::Eq, high, high_)}) {
            equal = simplified(b_, equal);
            test = test ? b_.binary(Op::And, test, equal) : equal;
        }
        nest.define(step.statement->id, b_.read(variable_));
        return true;
    }

    /// Negative indices that count from the end, which no iteration has.
    void settle(LoopNest& nest, E e, std::vector<E>& assumed) {
        if (nest.in_front(e)) return;
        if (e->kind == ExprKind::Select && e->dtype == DType::Int64) {
            if (E test = nest.never(e->args[0])) {
                settled_.insert(e);
                assumed.push_back(test);
            }
        }
        for (E a : e->args) settle(nest, a, assumed);
    }

    E whole(E count, std::int64_t of) {
        E bits = b_.i64(bits_of(of));
        return b_.binary(Op::Shl, b_.binary(Op::Shr, count, bits), bits);
    }

    /// Groups of lanes from `first` on, as many as `count` has.
    S strips(const ColumnSum& sum, std::int32_t first, E count, std::int64_t groups) {
        const std::int64_t width = groups * lanes_;
        const std::int64_t bits = bits_of(width);
        std::int32_t strip = b_.var("strip", DType::Int64);
        std::int32_t at = b_.var("at", DType::Int64);
        strip_ = Strip{sum.outer->id, b_.read(at), b_.i64(width), {}, {}};
        std::vector<S> body{
            b_.declare(at, b_.add(b_.read(first), b_.mul(b_.read(strip), b_.i64(width))))};
        for (auto from = sum.steps.begin(); from != sum.steps.end();) {
            if (from->is_loop()) {
                body.push_back(in_rows(*from++));
                continue;
            }
            auto to = std::find_if(from, sum.steps.end(), [](auto& s) { return s.is_loop(); });
            body.push_back(one_by_lane({from, to}, {to, sum.steps.end()}, body));
            from = to;
        }
        for (std::int32_t var : sum.outside)
            body.push_back(b_.assign(var, load(strip_.held[var], b_.i64(width - 1))));
        return b_.loop(LoopKind::Serial, strip, b_.i64(0), b_.binary(Op::Shr, count, b_.i64(bits)),
                       b_.i64(1), as_one(b_, body));
    }

    /// A loop over the lanes around what `write` makes for one.
    template <class Write>
    S each(LoopKind kind, Write write) {
        std::int32_t lane = b_.var("lane", DType::Int64);
        E number = b_.read(lane);
        Replace put(function(), settled_);
        put.by[strip_.column] = b_.add(strip_.at, number);
        for (auto [var, array] : strip_.held) put.by[var] = load(array, number);
        std::vector<S> inside;
        write(inside, put, number);
        return b_.loop(kind, lane, b_.i64(0), strip_.count, b_.i64(1), as_one(b_, inside));
    }

    /// A loop that adds or updates, with the lanes inside.
    S in_rows(const ColumnStep& step) {
        S lanes = each(LoopKind::Vector, [&](std::vector<S>& out, Replace& put, E number) {
            for (S d : used(strip_.declared, step.body, step.term)) out.push_back(put.stmt(d));
            for (S s : step.body) out.push_back(put.stmt(s));
            if (!step.term) return;
            const std::int32_t sums = strip_.held[step.sum];
            out.push_back(store(sums, number, b_.add(load(sums, number), put.expr(step.term))));
        });
        return b_.loop(LoopKind::Serial, step.statement->id, low_, high_, b_.i64(1), lanes);
    }

    /// Statements between the loops. What a lane declares from memory is held for those behind
    /// them, as it was, whatever is stored by then.
    S one_by_lane(std::span<const ColumnStep> now, std::span<const ColumnStep> later,
                  std::vector<S>& body) {
        std::vector<S> statements, declared = strip_.declared;
        for (const ColumnStep& step : now) {
            S s = statements.emplace_back(step.statement);
            if (step.sum < 0 && s->kind == StmtKind::Declare && !has_load(s->args[0]))
                declared.push_back(s);
        }
        std::vector<bool> is_read = reads_of(declared, later);
        for (const ColumnStep& step : now) {
            S s = step.statement;
            const bool is_loaded = s->kind == StmtKind::Declare && has_load(s->args[0]) &&
                                   is_read[static_cast<std::size_t>(s->id)];
            if (step.sum < 0 && !is_loaded) continue;
            std::int32_t& array = strip_.held[s->id];
            array = b_.local_array(step.sum < 0 ? "held" : "sums", s->args[0]->dtype, 1,
                                   Space::Private);
            body.push_back(b_.allocate(array, std::span<const E>(&strip_.count, 1)));
        }
        // What runs once per strip need not run on vectors, which would take longer to compile.
        S lanes = each(LoopKind::Unroll, [&](std::vector<S>& out, Replace& put, E number) {
            for (S d : used(strip_.declared, statements)) out.push_back(put.stmt(d));
            for (const ColumnStep& step : now) {
                S s = step.statement;
                if (step.sum >= 0) {
                    out.push_back(store(strip_.held[s->id], number, put.expr(s->args[0])));
                    continue;
                }
                out.push_back(put.stmt(s));
                auto array = strip_.held.find(s->id);
                if (s->kind == StmtKind::Declare && array != strip_.held.end())
                    out.push_back(store(array->second, number, b_.read(s->id)));
            }
        });
        strip_.declared = std::move(declared);
        return lanes;
    }

    /// What the declarations and steps read.
    std::vector<bool> reads_of(const std::vector<S>& declared, std::span<const ColumnStep> steps) {
        std::vector<bool> is_read(function().vars.size());
        auto mark = [&](S s) {
            for (E a : s->args) mark_read(a, is_read);
        };
        for (S d : declared) mark(d);
        for (const ColumnStep& step : steps) {
            mark(step.statement);
            for (S s : step.body) mark(s);
            if (step.term) mark_read(step.term, is_read);
        }
        return is_read;
    }

    /// Those of the declarations that the statements and the expression need.
    std::vector<S> used(const std::vector<S>& declared, const std::vector<S>& by,
                        E value = nullptr) {
        std::vector<bool> is_read(function().vars.size());
        for (S s : by) {
            for (E a : s->args) mark_read(a, is_read);
        }
        if (value) mark_read(value, is_read);
        std::vector<S> out;
        for (auto d = declared.rbegin(); d != declared.rend(); ++d) {
            if (!is_read[static_cast<std::size_t>((*d)->id)]) continue;
            mark_read((*d)->args[0], is_read);
            out.insert(out.begin(), *d);
        }
        return out;
    }

    /// The loop as it was, from `begin` on; terms are added in order.
    S one_by_one(const ColumnSum& sum, E begin) {
        std::vector<S> body;
        flatten(sum.outer->body, body);
        for (S& s : body) {
            if (s->kind != StmtKind::For || !s->any_order) continue;
            Stmt ordered = *s;
            ordered.any_order = false;
            s = b_.own(ordered);
        }
        return b_.loop(LoopKind::Serial, sum.outer->id, begin, sum.outer->args[1], b_.i64(1),
                       as_one(b_, body));
    }

    E load(std::int32_t array, E at) {
        return b_.load(array, std::span<const E>(&at, 1), Access::Linear);
    }
    S store(std::int32_t array, E at, E value) {
        return b_.store(array, std::span<const E>(&at, 1), value, Access::Linear);
    }

    /// The lanes that are being written.
    struct Strip {
        std::int32_t column = -1;
        E at = nullptr, count = nullptr;
        std::unordered_map<std::int32_t, std::int32_t> held;  ///< by variable, an array
        std::vector<S> declared;                              ///< what need not be held
    };

    std::int64_t lanes_ = 0;
    Strip strip_;
    E low_ = nullptr, high_ = nullptr;  ///< the range of the loops in the one over columns
    std::int32_t variable_ = -1;        ///< of the first of them
    std::optional<Made> made_;
    std::unordered_set<E> settled_;  ///< selections whose condition never holds where lanes run
};

}  // namespace

void sums_in_lanes(Module& module) {
    for (Function& f : module.functions) SumsInLanes(f).run();
}

}  // namespace unisono::passes
