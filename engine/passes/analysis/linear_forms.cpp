// Takes indices apart, and writes the tests that two iterations do not meet.
#include "passes/analysis/linear_forms.h"

#include <algorithm>

#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

bool equal(E a, E b) { return a == b || (a && b && same(a, b)); }

bool is_literal(E e) { return e && e->kind == ExprKind::Const; }

/// Large expressions are not worth copying into a test.
constexpr std::size_t most_nodes = 600;

std::size_t nodes(E e) {
    std::size_t n = 1;
    for (E a : e->args) {
        n += nodes(a);
        if (n > most_nodes) break;
    }
    return n;
}

}  // namespace

bool is_plain_loop(S s) {
    return s->kind == StmtKind::For && s->loop == LoopKind::Serial && s->reductions.empty() &&
           !s->numbers && is_literal(s->args[2]) && s->args[2]->bits == 1;
}

bool operator==(const LinearForm& a, const LinearForm& b) {
    return equal(a.rest, b.rest) && equal(a.outer, b.outer) && equal(a.inner, b.inner);
}

bool is_small(std::int64_t value) {
    constexpr std::int64_t most = std::int64_t{1} << 48;
    return value >= -most && value <= most;
}

bool constant_difference(E to, E from, std::int64_t& out) {
    std::int64_t a = 0;
    std::int64_t b = 0;
    auto base = [](E e, std::int64_t& constant) -> E {
        constant = 0;
        if (!e || is_constant(e, constant)) return nullptr;
        std::int64_t part = 0;
        while (e->kind == ExprKind::Binary && (e->op == Op::Add || e->op == Op::Sub) &&
               is_constant(e->args[1], part) && is_small(part) && is_small(constant)) {
            constant += e->op == Op::Add ? part : -part;
            e = e->args[0];
        }
        return e;
    };
    E x = base(to, a);
    E y = base(from, b);
    if (!is_small(a) || !is_small(b)) return false;
    out = a - b;
    return x == y || (x && y && same(x, y));
}

LoopNest::LoopNest(Builder& b, S outer, S inner)
    : b_(b), outer_(outer), inner_(inner), written_(b.function().vars.size()) {
    mark_written(outer, written_);
}

E LoopNest::plus(E a, E b) {
    if (!a || !b) return a ? a : b;
    return simplified(b_, b_.add(a, b));
}

E LoopNest::minus(E a, E b) { return equal(a, b) ? nullptr : plus(a, times(b, b_.i64(-1))); }

E LoopNest::times(E a, E b) {
    if (!a || !b) return nullptr;
    return simplified(b_, b_.mul(a, b));
}

E LoopNest::both(E a, E b) {
    if (!a || !b) return a ? a : b;
    return b_.binary(Op::And, a, b);
}

E LoopNest::substituted(E e) {
    if (e->kind == ExprKind::Var) {
        auto found = defined_.find(e->id);
        if (found == defined_.end()) return e;
        E& known = substituted_[e->id];
        if (!known) known = substituted(found->second);
        return known;
    }
    std::vector<E> args(e->args.begin(), e->args.end());
    for (E& a : args) a = substituted(a);
    if (std::equal(args.begin(), args.end(), e->args.begin())) return e;
    Expr changed = *e;
    changed.args = b_.list(std::span<const E>(args));
    return b_.own(changed);
}

bool LoopNest::is_invariant(E e) const {
    if (e->kind == ExprKind::Load || e->kind == ExprKind::WorkItem) return false;
    if (e->kind == ExprKind::Memory &&
        b_.function().arrays[static_cast<std::size_t>(e->id)].is_slot) {
        return false;  // it may come to hold other memory
    }
    if (e->kind == ExprKind::Var && written_[static_cast<std::size_t>(e->id)]) return false;
    return std::all_of(e->args.begin(), e->args.end(), [&](E a) { return is_invariant(a); });
}

E LoopNest::in_front(E e) {
    e = substituted(e);
    return nodes(e) <= most_nodes && is_invariant(e) ? e : nullptr;
}

std::optional<LinearForm> LoopNest::form(E e) {
    if (e->dtype != DType::Int64) return std::nullopt;
    if (E known = in_front(e)) return LinearForm{known, nullptr, nullptr};
    if (e->kind == ExprKind::Var) {
        if (e->id == outer_->id) return LinearForm{nullptr, b_.i64(1), nullptr};
        if (inner_ && e->id == inner_->id) return LinearForm{nullptr, nullptr, b_.i64(1)};
        auto found = defined_.find(e->id);
        return found == defined_.end() ? std::nullopt : form(found->second);
    }
    if (e->kind == ExprKind::Select) {
        E test = never(e->args[0]);
        if (test) assumed_.push_back(test);
        return test ? form(e->args[2]) : std::nullopt;
    }
    if (e->kind != ExprKind::Binary) return std::nullopt;
    if (e->op != Op::Add && e->op != Op::Sub && e->op != Op::Mul) return std::nullopt;
    auto x = form(e->args[0]);
    auto y = form(e->args[1]);
    if (!x || !y) return std::nullopt;
    if (e->op == Op::Mul) {
        if (y->outer || y->inner) std::swap(x, y);
        if (y->outer || y->inner) return std::nullopt;
        return LinearForm{times(x->rest, y->rest), times(x->outer, y->rest),
                          times(x->inner, y->rest)};
    }
    if (e->op == Op::Sub) {
        return LinearForm{minus(x->rest, y->rest), minus(x->outer, y->outer),
                          minus(x->inner, y->inner)};
    }
    return LinearForm{plus(x->rest, y->rest), plus(x->outer, y->outer), plus(x->inner, y->inner)};
}

bool LoopNest::loads(E e, std::vector<NestAccess>& out) {
    if (e->kind == ExprKind::Load) {
        if (e->access != Access::Linear) return false;
        out.push_back({e->id, false, form(e->args[0])});
    }
    if (e->kind == ExprKind::WorkItem) return false;
    return std::all_of(e->args.begin(), e->args.end(), [&](E a) { return loads(a, out); });
}

/// The value in an iteration of the outer loop; the form has no inner part.
E LoopNest::at(const LinearForm& f, E outer) {
    E value = plus(f.rest, times(f.outer, outer));
    return value ? value : b_.i64(0);
}

/// The comparison's sides differ by what rises or falls: what (does not) hold at both ends does so
/// everywhere.
E LoopNest::at_both_ends(E order, bool holds) {
    auto x = form(order->args[0]);
    auto y = form(order->args[1]);
    if (!x || !y || x->inner || y->inner) return nullptr;
    E all = nullptr;
    for (E where : {begin(), simplified(b_, b_.sub(end(), b_.i64(1)))}) {
        E here = b_.binary(order->op, at(*x, where), at(*y, where));
        all = both(all, holds ? here : b_.unary(Op::Not, here));
    }
    return all;
}

E LoopNest::never(E e) {
    if (E known = in_front(e)) return b_.unary(Op::Not, known);
    if (e->kind == ExprKind::Unary && e->op == Op::Not) return always(e->args[0]);
    if (e->kind != ExprKind::Binary) return nullptr;
    E first = nullptr;
    E second = nullptr;
    switch (e->op) {
        case Op::Or:
            first = never(e->args[0]);
            second = first ? never(e->args[1]) : nullptr;
            return second ? both(first, second) : nullptr;
        case Op::And:
            first = never(e->args[0]);
            second = never(e->args[1]);
            return first && second ? b_.binary(Op::Or, first, second) : first ? first : second;
        case Op::Eq: {
            auto x = form(e->args[0]);
            auto y = form(e->args[1]);
            if (!x || !y || x->inner || y->inner || !equal(x->outer, y->outer)) return nullptr;
            x->outer = y->outer = nullptr;
            return b_.binary(Op::Ne, at(*x, begin()), at(*y, begin()));
        }
        case Op::Lt:
        case Op::Le:
        case Op::Gt:
        case Op::Ge: return at_both_ends(e, false);
        default: return nullptr;
    }
}

E LoopNest::always(E e) {
    if (E known = in_front(e)) return known;
    if (e->kind == ExprKind::Unary && e->op == Op::Not) return never(e->args[0]);
    if (e->kind != ExprKind::Binary) return nullptr;
    E first = nullptr;
    E second = nullptr;
    switch (e->op) {
        case Op::And:
            first = always(e->args[0]);
            second = first ? always(e->args[1]) : nullptr;
            return second ? both(first, second) : nullptr;
        case Op::Or:
            first = always(e->args[0]);
            second = always(e->args[1]);
            return first && second ? b_.binary(Op::Or, first, second) : first ? first : second;
        case Op::Lt:
        case Op::Le:
        case Op::Gt:
        case Op::Ge: return at_both_ends(e, true);
        default: return nullptr;
    }
}

/// The elements that all iterations touch, in elements from the array's first or in bytes.
LoopNest::Range LoopNest::range(const NestAccess& a, bool as_addresses) {
    E low = a.form->rest ? a.form->rest : b_.i64(0);
    E high = low;
    auto along = [&](E step, E from, E to) {
        if (!step) return;
        E first = times(step, from);
        E last = times(step, simplified(b_, b_.sub(to, b_.i64(1))));
        bool rises = is_literal(step) && static_cast<std::int64_t>(step->bits) > 0;
        low = plus(low, rises ? first : b_.binary(Op::Min, first, last));
        high = plus(high, rises ? last : b_.binary(Op::Max, first, last));
    };
    along(a.form->outer, begin(), end());
    if (inner_) {
        // A loop without iterations touches nothing: it is taken as one of its first alone.
        E from = in_front(inner_->args[0]);
        E least = simplified(b_, b_.add(from, b_.i64(1)));
        along(a.form->inner, from, b_.binary(Op::Max, in_front(inner_->args[1]), least));
    }
    if (!as_addresses) return {low, high};
    std::int64_t size = size_of(b_.function().arrays[static_cast<std::size_t>(a.array)].dtype);
    E address = b_.address(a.array);
    return {plus(address, times(low, b_.i64(size))),
            plus(plus(address, times(high, b_.i64(size))), b_.i64(size - 1))};
}

/// A test that two accesses meet in no two iterations; true is null where it needs no test.
E LoopNest::apart(const NestAccess& a, const NestAccess& b) {
    Range x = range(a, a.array != b.array);
    Range y = range(b, a.array != b.array);
    return b_.binary(Op::Or, b_.binary(Op::Lt, x.high, y.low), b_.binary(Op::Lt, y.high, x.low));
}

E LoopNest::apart_from(const NestAccess& store, std::span<const NestAccess> others) {
    auto info = [&](const NestAccess& a) -> const Array& {
        return b_.function().arrays[static_cast<std::size_t>(a.array)];
    };
    E all = b_.boolean(true);
    for (const NestAccess& other : others) {
        if (store.array != other.array && info(store).noalias && info(other).noalias) continue;
        if (!store.form || !other.form) return nullptr;
        all = both(all, apart(store, other));
    }
    return simplified(b_, all);
}

/// A test that iterations of the outer loop, side by side, touch different columns.
E LoopNest::far_apart(const LinearForm& f) {
    if (f.outer->bits != 1) return nullptr;
    E count = simplified(b_, b_.sub(end(), begin()));
    return b_.binary(Op::Or, b_.binary(Op::Ge, f.inner, count),
                     b_.binary(Op::Le, f.inner, times(count, b_.i64(-1))));
}

E LoopNest::independent(std::span<const NestAccess> accesses) {
    E all = b_.boolean(true);
    for (std::size_t s = 0; s < accesses.size(); ++s) {
        const NestAccess& store = accesses[s];
        if (!store.is_store) continue;
        std::vector<NestAccess> others;
        for (std::size_t k = 0; k < accesses.size(); ++k) {
            const NestAccess& other = accesses[k];
            if (other.is_store && k < s) continue;  // seen as a pair before
            if (store.array != other.array || !store.form || !other.form ||
                *store.form != *other.form) {
                if (std::find(others.begin(), others.end(), other) == others.end())
                    others.push_back(other);
            } else if (!is_literal(store.form->outer)) {
                return nullptr;  // else the same element: another one in each iteration
            } else if (store.form->inner) {
                E columns = far_apart(*store.form);
                if (!columns) return nullptr;
                all = both(all, columns);
            }
        }
        E test = apart_from(store, others);
        if (!test) return nullptr;
        all = both(all, test);
    }
    return simplified(b_, all);
}

}  // namespace unisono::passes
