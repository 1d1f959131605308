// Writes the iterations of the loops that column_sums.h finds as lanes.
#include "passes/sums_in_lanes.h"

#include <algorithm>
#include <bit>
#include <span>

#include "passes/column_sums.h"
#include "passes/columns_apart.h"
#include "passes/linear_forms.h"
#include "passes/replace_reads.h"
#include "passes/simplify.h"

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
        lanes_ = lane_bytes / size_of(sum.term->dtype);
        E count = simplified(b_, b_.sub(sum.outer->args[1], sum.outer->args[0]));
        test = simplified(b_, b_.binary(Op::And, b_.binary(Op::Ge, count, b_.i64(lanes_)), test));
        made_ = Made{sum, test, in_groups(sum, test, group_counts)};
        return made_->whole;
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
        for (S d : sum.before) nest.define(d->id, d->args[0]);
        if (!nest.in_front(sum.inner->args[0]) || !nest.in_front(sum.inner->args[1]))
            return nullptr;
        for (S d : sum.terms) nest.define(d->id, d->args[0]);
        std::vector<NestAccess> all;
        bool is_known = nest.loads(sum.term, all);
        for (S d : sum.terms) is_known = is_known && nest.loads(d->args[0], all);
        // Worth it where the lanes lie side by side and the terms of a sum do not.
        bool gains = false;
        for (const NestAccess& a : all) {
            if (!a.form || (a.form->outer && !is_one(a.form->outer))) return nullptr;
            gains =
                gains || (a.form->outer && a.form->inner && a.form->inner->kind != ExprKind::Const);
        }
        if (!is_known || !gains) return nullptr;
        is_known = nest.loads(sum.first, all);
        for (S d : sum.before) is_known = is_known && nest.loads(d->args[0], all);
        E bounds = nullptr;
        for (S d : sum.after) {
            if (d->kind != StmtKind::For) {
                is_known = is_known && touches(nest, d, all);
                continue;
            }
            E same_range = as_far_as(nest, sum, d);
            if (!same_range) return nullptr;
            bounds = bounds ? b_.binary(Op::And, bounds, same_range) : same_range;
            std::vector<S> body;
            flatten(d->body, body);
            const std::size_t first = all.size();
            for (S each : body) is_known = is_known && touches(nest, each, all);
            // Only what lies side by side is faster in lanes.
            for (std::size_t k = first; k < all.size(); ++k) {
                if (!all[k].form || (all[k].form->outer && !is_one(all[k].form->outer)))
                    return nullptr;
            }
        }
        E test = is_known ? nest.independent(all) : nullptr;
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
        for (const std::vector<S>* list : {&sum.before, &sum.after}) {
            for (S d : *list) {
                if (d->kind == StmtKind::Declare) settle(nest, d->args[0], assumed);
            }
        }
        for (auto a = assumed.begin(); test && a != assumed.end(); ++a) {
            bool is_new = std::none_of(assumed.begin(), a, [&](E e) { return same(e, *a); });
            if (is_new) test = b_.binary(Op::And, test, *a);
        }
        return test;
    }

    /// Adds what a store or a declaration touches; false where that is not understood.
    static bool touches(LoopNest& nest, S s, std::vector<NestAccess>& out) {
        if (s->kind == StmtKind::Declare) nest.define(s->id, s->args[0]);
        bool is_known =
            std::all_of(s->args.begin(), s->args.end(), [&](E a) { return nest.loads(a, out); });
        if (s->kind == StmtKind::Store) out.push_back({s->id, true, nest.form(s->args[0])});
        return is_known;
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

    /// A test that the update runs over the range of the sum, whose variable it takes; or null.
    E as_far_as(LoopNest& nest, const ColumnSum& sum, S update) {
        E test = nullptr;
        for (std::size_t k = 0; k < 2; ++k) {
            E mine = nest.in_front(update->args[k]);
            if (!mine) return nullptr;
            E equal = simplified(b_, b_.binary(Op::Eq, mine, nest.in_front(sum.inner->args[k])));
            test = test ? b_.binary(Op::And, test, equal) : equal;
        }
        nest.define(update->id, b_.read(sum.inner->id));
        return test;
    }

    E whole(E count, std::int64_t of) {
        E bits = b_.i64(bits_of(of));
        return b_.binary(Op::Shl, b_.binary(Op::Shr, count, bits), bits);
    }

    /// Groups of lanes from `first` on, as many as `count` has.
    S strips(const ColumnSum& sum, std::int32_t first, E count, std::int64_t groups) {
        std::int64_t width = groups * lanes_;
        const std::int64_t bits = bits_of(width);
        std::int32_t strip = b_.var("strip", DType::Int64);
        std::int32_t at = b_.var("at", DType::Int64);
        std::int32_t sums = b_.local_array("sums", sum.term->dtype, 1, Space::Private);
        E length = b_.i64(width);
        std::vector<S> body{
            b_.declare(at, b_.add(b_.read(first), b_.mul(b_.read(strip), b_.i64(width)))),
            b_.allocate(sums, std::span<const E>(&length, 1))};
        auto each = [&](LoopKind kind, std::vector<S>& out, auto write) {
            std::int32_t lane = b_.var("lane", DType::Int64);
            E number = b_.read(lane);
            Replace put(function(), settled_);
            put.by[sum.outer->id] = b_.add(b_.read(at), number);
            put.by[sum.var] = load(sums, number);
            std::vector<S> inside;
            write(inside, put, number);
            out.push_back(b_.loop(kind, lane, b_.i64(0), length, b_.i64(1), as_one(b_, inside)));
        };
        // What runs once per strip need not run on vectors, which would take longer to compile.
        each(LoopKind::Unroll, body, [&](std::vector<S>& out, Replace& put, E number) {
            for (S d : used(sum.before, {}, sum.first)) out.push_back(put.stmt(d));
            out.push_back(store(sums, number, put.expr(sum.first)));
        });
        std::vector<S> added;
        each(LoopKind::Vector, added, [&](std::vector<S>& out, Replace& put, E number) {
            for (S d : used(sum.before, sum.terms, sum.term)) out.push_back(put.stmt(d));
            for (S d : sum.terms) out.push_back(put.stmt(d));
            out.push_back(store(sums, number, b_.add(load(sums, number), put.expr(sum.term))));
        });
        body.push_back(inner_loop(sum, as_one(b_, added), sum.inner->id));
        behind(sum, length, body, each);
        if (sum.is_outside) body.push_back(b_.assign(sum.var, load(sums, b_.i64(width - 1))));
        return b_.loop(LoopKind::Serial, strip, b_.i64(0), b_.binary(Op::Shr, count, b_.i64(bits)),
                       b_.i64(1), as_one(b_, body));
    }

    /// What comes behind the sum. What a lane declares from memory is held for the loops behind it.
    template <class Each>
    void behind(const ColumnSum& sum, E length, std::vector<S>& body, Each each) {
        std::vector<S> declared, loaded;
        const bool goes_on = std::any_of(sum.after.begin(), sum.after.end(),
                                         [](S s) { return s->kind == StmtKind::For; });
        for (S d : sum.before) (goes_on && has_load(d->args[0]) ? loaded : declared).push_back(d);
        std::unordered_map<std::int32_t, std::int32_t> held;
        auto put_held = [&](Replace& put, E number) {
            for (auto [var, array] : held) put.by[var] = load(array, number);
        };
        auto hold = [&](S d, std::unordered_map<std::int32_t, std::int32_t>& in) {
            in[d->id] = b_.local_array("held", d->args[0]->dtype, 1, Space::Private);
            body.push_back(b_.allocate(in[d->id], std::span<const E>(&length, 1)));
        };
        // What was read in front of the sum stays as it was, whatever is stored behind it.
        for (S d : loaded) hold(d, held);
        auto read_first = [&](std::vector<S>& out, Replace& put, E number) {
            for (S d : used(sum.before, loaded)) out.push_back(put.stmt(d));
            for (S d : loaded) {
                out.push_back(put.stmt(d));
                out.push_back(store(held[d->id], number, b_.read(d->id)));
            }
        };
        if (!loaded.empty()) each(LoopKind::Unroll, body, read_first);
        for (auto from = sum.after.begin(); from != sum.after.end();) {
            if ((*from)->kind == StmtKind::For) {
                S update = *from++;
                std::vector<S> now, lanes;
                flatten(update->body, now);
                each(LoopKind::Vector, lanes, [&](std::vector<S>& out, Replace& put, E number) {
                    put_held(put, number);
                    for (S d : used(declared, now)) out.push_back(put.stmt(d));
                    for (S d : now) out.push_back(put.stmt(d));
                });
                body.push_back(inner_loop(sum, as_one(b_, lanes), update->id));
                continue;
            }
            auto to =
                std::find_if(from, sum.after.end(), [](S s) { return s->kind == StmtKind::For; });
            const std::vector<S> now(from, to);
            std::unordered_map<std::int32_t, std::int32_t> kept;
            std::vector<S> outside = declared;
            for (S d : now) {
                if (d->kind != StmtKind::Declare) continue;
                if (!has_load(d->args[0])) {
                    declared.push_back(d);
                } else if (to != sum.after.end()) {
                    hold(d, kept);
                }
            }
            each(LoopKind::Unroll, body, [&](std::vector<S>& out, Replace& put, E number) {
                put_held(put, number);
                for (S d : used(outside, now)) out.push_back(put.stmt(d));
                for (S d : now) {
                    out.push_back(put.stmt(d));
                    auto array = kept.find(d->id);
                    if (d->kind == StmtKind::Declare && array != kept.end())
                        out.push_back(store(array->second, number, b_.read(d->id)));
                }
            });
            held.insert(kept.begin(), kept.end());
            from = to;
        }
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

    /// A loop over the terms, from bounds that are known in front of the nest.
    S inner_loop(const ColumnSum& sum, S body, std::int32_t var) {
        LoopNest nest(b_, sum.outer, sum.inner);
        for (S d : sum.before) nest.define(d->id, d->args[0]);
        return b_.loop(LoopKind::Serial, var, nest.in_front(sum.inner->args[0]),
                       nest.in_front(sum.inner->args[1]), b_.i64(1), body);
    }

    /// The loop as it was, from `begin` on; terms are added in order.
    S one_by_one(const ColumnSum& sum, E begin) {
        std::vector<S> body;
        flatten(sum.outer->body, body);
        for (S& s : body) {
            if (s != sum.inner) continue;
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

    std::int64_t lanes_ = 0;
    std::optional<Made> made_;
    std::unordered_set<E> settled_;  ///< selections whose condition never holds where lanes run
};

}  // namespace

void sums_in_lanes(Module& module) {
    for (Function& f : module.functions) SumsInLanes(f).run();
}

}  // namespace unisono::passes
