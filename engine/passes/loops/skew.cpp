// Finds the loops, proves the order of what meets, and writes rows side by side.
#include "passes/loops/skew.h"

#include <algorithm>
#include <unordered_map>

#include "passes/analysis/affine.h"
#include "passes/analysis/linear_forms.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::int64_t rows = 4;

/// A loop over the elements of a row.
struct Phase {
    S loop = nullptr;
    std::vector<S> body;
};

/// What the outer loop does per row.
struct Rows {
    S outer = nullptr;
    std::vector<S> before;            ///< declarations
    std::vector<E> faults;            ///< conditions of what raises
    std::vector<E> taken, not_taken;  ///< conditions of branches
    std::vector<Phase> phases;
    std::vector<std::int32_t> made;  ///< slots that hold one row
};

/// An access of a row: element `factor * (row of the loop) + rest + (place in the row)`.
struct RowAccess {
    std::size_t phase;
    bool is_store;
    std::int32_t array;
    Poly factor, rest;
    std::int64_t up = 0, along = 0;  ///< of rest, less that of the array's first store
};

bool raises(S s) {
    std::vector<S> taken;
    if (s->kind == StmtKind::If && s->orelse.empty()) flatten(s->body, taken);
    return taken.size() == 1 && taken[0]->kind == StmtKind::Return && taken[0]->fault >= 0;
}

bool find_rows(std::span<const S> list, Rows& r) {
    std::vector<S> all;
    flatten(list, all);
    for (S s : all) {
        std::int64_t step = 0;
        if (s->kind == StmtKind::Declare && !s->args.empty()) {
            r.before.push_back(s);
        } else if (raises(s)) {
            r.faults.push_back(s->args[0]);
        } else if (s->kind == StmtKind::Make) {
            r.made.push_back(s->id);
        } else if (s->kind == StmtKind::If && !s->orelse.empty()) {
            bool makes = std::any_of(s->orelse.begin(), s->orelse.end(),
                                     [](S o) { return contains(o, StmtKind::Make); });
            (makes ? r.not_taken : r.taken).push_back(s->args[0]);
            if (!find_rows(makes ? s->orelse : s->body, r)) return false;
        } else if (s->kind == StmtKind::For && s->reductions.empty() && !s->numbers &&
                   is_constant(s->args[2], step) && step == 1) {
            Phase phase;
            phase.loop = s;
            flatten(s->body, phase.body);
            for (S b : phase.body) {
                bool is_store =
                    b->kind == StmtKind::Store && b->access == Access::Linear && !b->streaming;
                if (!is_store && (b->kind != StmtKind::Declare || b->args.empty())) return false;
            }
            r.phases.push_back(std::move(phase));
        } else {
            return false;
        }
    }
    return true;
}

/// Expressions as polynomials of their leaves.
class Terms {
  public:
    std::optional<Poly> poly(E e) {
        if (!e) return Poly();
        std::int64_t value = 0;
        if (is_constant(e, value)) return Poly(value);
        bool is_sum = e->kind == ExprKind::Binary &&
                      (e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul);
        if (!is_sum) return Poly::symbol(symbol(e));
        auto x = poly(e->args[0]);
        auto y = poly(e->args[1]);
        if (!x || !y) return std::nullopt;
        return e->op == Op::Mul ? product(*x, *y) : sum(*x, *y, e->op == Op::Sub ? -1 : 1);
    }
    E read(int symbol) const { return known_[static_cast<std::size_t>(symbol)]; }

  private:
    int symbol(E e) {
        auto found = std::find_if(known_.begin(), known_.end(), [&](E k) { return same(k, e); });
        if (found == known_.end()) found = known_.insert(found, e);
        return static_cast<int>(found - known_.begin());
    }
    std::vector<E> known_;
};

class Replace final : public Rewriter {
  public:
    explicit Replace(Function& f) : Rewriter(f) {}
    std::unordered_map<std::int32_t, E> by;       ///< variables
    std::unordered_map<std::int32_t, E> carried;  ///< arrays, by what their one element is

    E expr(E e) override {
        if (e->kind == ExprKind::Var) {
            auto found = by.find(e->id);
            if (found != by.end()) return found->second;
        }
        if (e->kind == ExprKind::Load) {
            auto found = carried.find(e->id);
            if (found != carried.end()) return found->second;
        }
        return children(e);
    }
};

class RowsInFlight final : public Rewriter {
  public:
    using Rewriter::Rewriter;

    S stmt(S s) override {
        S changed = children(s);
        if (!is_plain_loop(changed)) return changed;
        Rows r;
        r.outer = changed;
        if (!find_rows(changed->body, r) || r.phases.empty()) return changed;
        bool is_serial = std::any_of(r.phases.begin(), r.phases.end(),
                                     [](const Phase& p) { return is_plain_loop(p.loop); });
        S together = is_serial ? write(r) : nullptr;
        return together ? together : changed;
    }

  private:
    S write(const Rows& r) {
        b_.line = r.outer->line;
        E test = condition(r);
        if (!test) return nullptr;
        E begin = r.outer->args[0];
        E end = r.outer->args[1];
        E count = simplified(b_, b_.sub(end, begin));
        std::int64_t head = lag_ * (rows - 1);  // places until all rows are under way
        test = b_.binary(Op::And, b_.binary(Op::Ge, count, b_.i64(rows)),
                         b_.binary(Op::And, b_.binary(Op::Gt, length_, b_.i64(head)), test));
        std::int32_t group = b_.var("rows", DType::Int64);
        std::int32_t at = b_.var("at", DType::Int64);
        std::vector<S> body{
            b_.declare(at, simplified(b_, b_.add(begin, b_.mul(b_.read(group), b_.i64(rows)))))};
        std::vector<Replace> each;
        for (std::int64_t k = 0; k < rows; ++k) {
            Replace& put = each.emplace_back(function());
            put.by[r.outer->id] = simplified(b_, b_.add(b_.read(at), b_.i64(k)));
            for (S d : r.before) {
                const Var known = function().vars[static_cast<std::size_t>(d->id)];
                std::int32_t own = b_.var(known.name, known.dtype);
                body.push_back(b_.declare(own, put.expr(d->args[0])));
                put.by[d->id] = b_.read(own);
            }
        }
        E last = b_.add(length_, b_.i64(head));
        body.push_back(places(r, each, b_.i64(0), b_.i64(head), true));
        body.push_back(places(r, each, b_.i64(head), length_, false));
        body.push_back(places(r, each, length_, last, true));
        E groups = b_.binary(Op::FloorDiv, count, b_.i64(rows));
        S fast = b_.loop(LoopKind::Serial, group, b_.i64(0), groups, b_.i64(1), as_one(b_, body));
        std::int32_t next = b_.var("next", DType::Int64);
        S on = b_.assign(next, b_.add(begin, b_.mul(groups, b_.i64(rows))));
        S rest = b_.loop(LoopKind::Serial, r.outer->id, b_.read(next), end, b_.i64(1),
                         as_one(b_, r.outer->body));
        S branch = b_.branch(simplified(b_, test), b_.block({fast, on}));
        return b_.block({b_.declare(next, begin), branch, rest});
    }

    /// A loop over positions of the first row; the others lag, and may be out of range if `tested`.
    S places(const Rows& r, std::vector<Replace>& each, E from, E to, bool tested) {
        std::int32_t place = b_.var("place", DType::Int64);
        std::vector<S> body;
        for (std::int64_t k = 0; k < rows; ++k) {
            E own = simplified(b_, b_.sub(b_.read(place), b_.i64(k * lag_)));
            std::vector<S> row;
            Replace put = each[static_cast<std::size_t>(k)];
            for (const Phase& phase : r.phases) {
                put.by[phase.loop->id] = simplified(b_, b_.add(lows_.at(phase.loop), own));
                for (S s : phase.body) write_element(r, s, put, row);
            }
            if (!tested) {
                body.insert(body.end(), row.begin(), row.end());
                continue;
            }
            E is_there = b_.binary(Op::And, b_.binary(Op::Ge, own, b_.i64(0)),
                                   b_.binary(Op::Lt, own, length_));
            body.push_back(b_.branch(is_there, b_.block(row)));
        }
        return b_.loop(LoopKind::Serial, place, from, to, b_.i64(1), as_one(b_, body));
    }

    void write_element(const Rows& r, S s, Replace& put, std::vector<S>& out) {
        if (s->kind == StmtKind::Declare) {
            const Var known = function().vars[static_cast<std::size_t>(s->id)];
            std::int32_t own = b_.var(known.name, known.dtype);
            out.push_back(b_.declare(own, put.expr(s->args[0])));
            put.by[s->id] = b_.read(own);
            return;
        }
        bool is_made = std::find(r.made.begin(), r.made.end(), s->id) != r.made.end();
        if (!is_made) {
            out.push_back(put.stmt(s));
            return;
        }
        std::int32_t own = b_.var("carried", s->args.back()->dtype);
        out.push_back(b_.declare(own, put.expr(s->args.back())));
        put.carried[s->id] = b_.read(own);
    }

    /// What must hold, or null; sets lag_, length_ and lows_.
    E condition(const Rows& r) {
        E test = b_.boolean(true);
        auto need = [&](E e) { test = test && e ? b_.binary(Op::And, test, e) : nullptr; };
        std::vector<RowAccess> all;
        Terms terms;
        lows_.clear();
        length_ = nullptr;
        std::vector<std::int32_t> filled;
        for (std::size_t p = 0; p < r.phases.size() && test; ++p) {
            const Phase& phase = r.phases[p];
            LoopNest nest(b_, r.outer, phase.loop);
            for (S d : r.before) nest.define(d->id, d->args[0]);
            E low = nest.in_front(phase.loop->args[0]);
            E high = nest.in_front(phase.loop->args[1]);
            if (!low || !high) return nullptr;
            E length = simplified(b_, b_.sub(high, low));
            if (length_) need(b_.binary(Op::Eq, length, length_));
            if (!length_) length_ = length;
            lows_[phase.loop] = low;
            for (S s : phase.body) {
                std::vector<NestAccess> accesses;
                for (E e : s->args) {
                    if (!nest.loads(e, accesses)) return nullptr;
                }
                if (s->kind == StmtKind::Declare) nest.define(s->id, s->args[0]);
                if (s->kind == StmtKind::Store)
                    accesses.push_back({s->id, true, nest.form(s->args[0])});
                for (const NestAccess& a : accesses) {
                    auto row = row_access(a, p, low, terms);
                    bool is_made = std::find(r.made.begin(), r.made.end(), a.array) != r.made.end();
                    if (!row || (is_made && !is_carried(*row, filled))) return nullptr;
                    if (!is_made) all.push_back(*row);
                }
            }
            for (E e : nest.assumed()) need(e);
        }
        for (const RowAccess& a : all) {
            const Array& info = function().arrays[static_cast<std::size_t>(a.array)];
            if (is_complex(info.dtype)) return nullptr;
        }
        if (!test || !are_apart(all)) return nullptr;
        E span = in_order(all, terms);
        if (!span) return nullptr;
        need(span);
        LoopNest nest(b_, r.outer, nullptr);
        for (S d : r.before) {
            std::vector<NestAccess> none;
            if (!nest.loads(d->args[0], none) || !none.empty()) return nullptr;
            nest.define(d->id, d->args[0]);
        }
        for (E e : r.faults) need(nest.never(e));
        for (E e : r.not_taken) need(nest.never(e));
        for (E e : r.taken) need(nest.always(e));
        for (E e : nest.assumed()) need(e);
        return test;
    }

    std::optional<RowAccess> row_access(const NestAccess& a, std::size_t phase, E low,
                                        Terms& terms) {
        if (!a.form) return std::nullopt;
        std::int64_t step = 0;
        if (!a.form->inner || !is_constant(a.form->inner, step) || step != 1) return std::nullopt;
        auto factor = terms.poly(a.form->outer);
        auto rest = terms.poly(a.form->rest);
        auto first = terms.poly(low);
        if (rest && first) rest = sum(*rest, *first);
        if (!factor || !rest) return std::nullopt;
        return RowAccess{phase, a.is_store, a.array, *factor, *rest};
    }

    /// Arrays that hold one row are stored once, and read at the same place later.
    bool is_carried(const RowAccess& a, std::vector<std::int32_t>& filled) {
        bool is_filled = std::find(filled.begin(), filled.end(), a.array) != filled.end();
        if (a.is_store && !is_filled) filled.push_back(a.array);
        return a.is_store != is_filled && a.rest == Poly() && a.factor == Poly();
    }

    /// Different arrays are known not to overlap where one of them is stored to.
    bool are_apart(const std::vector<RowAccess>& all) {
        auto noalias = [&](const RowAccess& a) {
            return function().arrays[static_cast<std::size_t>(a.array)].noalias;
        };
        for (const RowAccess& a : all) {
            for (const RowAccess& b : all) {
                if (a.is_store && a.array != b.array && !(noalias(a) && noalias(b))) return false;
            }
        }
        return true;
    }

    /// A test that rows are as far apart as they are long, if rows side by side keep the order of
    /// the loops; else null. Sets lag_.
    E in_order(std::vector<RowAccess>& all, const Terms& terms) {
        lag_ = 1;
        E test = b_.boolean(true);
        bool waits = false;
        for (std::size_t first = 0; first < all.size(); ++first) {
            const RowAccess store = all[first];
            bool is_seen = std::any_of(
                all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first),
                [&](const RowAccess& a) { return a.is_store && a.array == store.array; });
            if (!store.is_store || is_seen) continue;
            const auto& factor = store.factor.terms();
            if (factor.size() != 1 || factor.begin()->second != 1 ||
                factor.begin()->first.size() != 1) {
                return nullptr;
            }
            std::int64_t low = 0;
            std::int64_t high = 0;
            std::vector<RowAccess*> here;
            for (RowAccess& a : all) {
                if (a.array != store.array) continue;
                auto apart = sum(a.rest, store.rest, -1);
                if (a.factor != store.factor || !apart) return nullptr;
                for (const auto& [product, times] : apart->terms()) {
                    if (product.empty()) {
                        a.along = times;
                    } else if (product == factor.begin()->first) {
                        a.up = times;
                    } else {
                        return nullptr;
                    }
                }
                low = std::min(low, a.along);
                high = std::max(high, a.along);
                here.push_back(&a);
            }
            for (const RowAccess* a : here) {
                for (const RowAccess* b : here) {
                    if (!a->is_store && !b->is_store) continue;
                    if (!keeps_order(*a, *b, waits)) return nullptr;
                }
            }
            E stride = terms.read(factor.begin()->first.front());
            test = b_.binary(Op::And, test,
                             b_.binary(Op::Ge, stride, b_.add(length_, b_.i64(high - low))));
        }
        if (!waits || lag_ > 16) return nullptr;
        lag_ += 2;  // so that a row finds what the one above it stored a while ago
        return test;
    }

    /// Of two accesses that meet where `up` and `along` say, `a` in a row above or earlier in the
    /// same one: whether rows that are lag_ behind keep that order, which lag_ may grow for.
    bool keeps_order(const RowAccess& a, const RowAccess& b, bool& waits) {
        std::int64_t down = a.up - b.up;
        std::int64_t on = a.along - b.along;
        if (down < 0) return true;  // the pair the other way round
        if (down == 0) {
            if (a.phase == b.phase) {
                waits = waits || (a.is_store && !b.is_store && on > 0);
                return true;  // in the order of places, and of statements
            }
            return a.phase > b.phase || on >= 0;
        }
        if (down >= rows) return true;
        lag_ = std::max(lag_, (std::max<std::int64_t>(-on, 0) + down - 1) / down);
        return true;
    }

    std::int64_t lag_ = 1;
    E length_ = nullptr;
    std::unordered_map<S, E> lows_;
};

}  // namespace

void skew(Module& module) {
    for (Function& f : module.functions) RowsInFlight(f).run();
}

}  // namespace unisono::passes
