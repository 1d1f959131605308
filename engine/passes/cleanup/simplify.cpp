// Rewrites expressions bottom-up, one node at a time.
#include "passes/cleanup/simplify.h"

#include <algorithm>

#include "ir/rewrite.h"
#include "ops/scalar_eval.h"

namespace unisono::passes {

using namespace ir;

namespace {

bool is_const(E e) { return e->kind == ExprKind::Const; }
Scalar value_of(E e) { return {e->bits, e->dtype}; }
bool is_zero(E e) { return is_const(e) && e->bits == 0; }
bool is_one(E e) { return is_const(e) && e->bits == 1 && !is_float(e->dtype); }

bool may_fault(E e) {
    bool here =
        e->kind == ExprKind::Load && (e->access == Access::Checked || e->access == Access::Wrapped);
    return here || std::any_of(e->args.begin(), e->args.end(), may_fault);
}

bool is_folded(Op op) { return !is_math(op); }

bool is_negative(E e) { return eval(Op::Lt, value_of(e), Scalar::of(e->dtype, 0)).bits != 0; }

/// x + 3, x - 3 as (x, 3), (x, -3); integers only.
bool split_offset(E e, E& base, Scalar& offset) {
    if (e->kind != ExprKind::Binary || is_float(e->dtype) || !is_const(e->args[1])) return false;
    if (e->op != Op::Add && e->op != Op::Sub) return false;
    base = e->args[0];
    offset = value_of(e->args[1]);
    if (e->op == Op::Sub) offset = eval(Op::Neg, offset);
    return true;
}

/// base + offset, printed as a subtraction where the offset is negative.
E with_offset(Builder& b, E base, Scalar offset) {
    if (offset.bits == 0) return base;
    Scalar zero = Scalar::of(offset.dtype, 0);
    if (eval(Op::Lt, offset, zero).bits != 0) return b.sub(base, b.constant(eval(Op::Neg, offset)));
    return b.add(base, b.constant(offset));
}

E integer_binary(Builder& b, E e) {
    E x = e->args[0];
    E y = e->args[1];
    switch (e->op) {
        case Op::Add: {
            bool swapped = is_const(x);
            if (swapped) std::swap(x, y);
            if (!is_const(y)) return e;
            E base = nullptr;
            Scalar offset;
            if (split_offset(x, base, offset)) {
                return with_offset(b, base, eval(Op::Add, offset, value_of(y)));
            }
            return swapped || is_zero(y) || is_negative(y) ? with_offset(b, x, value_of(y)) : e;
        }
        case Op::Sub: {
            E base = nullptr;
            Scalar offset;
            if (is_const(y) && split_offset(x, base, offset)) {
                return with_offset(b, base, eval(Op::Sub, offset, value_of(y)));
            }
            return is_zero(y) ? x : e;
        }
        case Op::Mul:
            if (is_const(x)) std::swap(x, y);
            if (is_one(y)) return x;
            return is_zero(y) && !may_fault(x) ? y : e;
        case Op::FloorDiv: return is_one(y) ? x : e;
        default: return e;
    }
}

/// and, or with a constant bool.
E logic_binary(E e) {
    E x = e->args[0];
    E y = e->args[1];
    if (e->op != Op::And && e->op != Op::Or) return e;
    if (!may_fault(x) && same(x, y)) return x;
    if (is_const(x)) std::swap(x, y);
    if (!is_const(y)) return e;
    bool neutral = (y->bits != 0) == (e->op == Op::And);
    if (neutral) return x;
    return may_fault(x) ? e : y;
}

/// A selection of the same value, and `q == p ? p : q`.
E same_either_way(E e) {
    const E test = e->args[0], x = e->args[1], y = e->args[2];
    if (same(x, y)) return y;
    if (test->kind != ExprKind::Binary || test->op != Op::Eq || !is_integer(x->dtype)) return e;
    const bool is_pair = (same(test->args[0], x) && same(test->args[1], y)) ||
                         (same(test->args[0], y) && same(test->args[1], x));
    return is_pair ? y : e;
}

/// Comparisons of a number with itself, and of extents with zero.
E comparison(Builder& b, E e) {
    const E x = e->args[0], y = e->args[1];
    const bool is_extent = x->kind == ExprKind::Param && x->field == Field::Extent;
    if (e->op == Op::Lt && is_extent && is_zero(y)) return b.boolean(false);
    if (may_fault(x) || !same(x, y)) return e;
    switch (e->op) {
        case Op::Eq:
        case Op::Le:
        case Op::Ge: return b.boolean(true);
        case Op::Ne:
        case Op::Lt:
        case Op::Gt: return b.boolean(false);
        default: return e;
    }
}

E binary(Builder& b, E e) {
    if (is_const(e->args[0]) && is_const(e->args[1]) && is_folded(e->op)) {
        return b.constant(eval(e->op, value_of(e->args[0]), value_of(e->args[1])));
    }
    DType t = e->args[0]->dtype;
    if (is_integer(t)) return is_bool(e->dtype) ? comparison(b, e) : integer_binary(b, e);
    return is_bool(t) ? logic_binary(e) : e;
}

class Simplify final : public Rewriter {
  public:
    using Rewriter::Rewriter;

    E expr(E e) override {
        e = children(e);
        b_.line = e->line;
        return simplified(b_, e);
    }

    S stmt(S s) override {
        s = children(s);
        if (s->kind == StmtKind::If && is_const(s->args[0])) {
            std::span<const S> taken = s->args[0]->bits != 0 ? s->body : s->orelse;
            // Declarations inside must not leak into the enclosing scope, where the name may be
            // declared again.
            bool declares = std::any_of(taken.begin(), taken.end(), [](S t) {
                return contains(t, StmtKind::Declare) || contains(t, StmtKind::Allocate);
            });
            if (taken.empty()) return nullptr;
            if (!declares) return as_one(b_, taken);
            const std::span<const S> none;
            if (s->body.size() + s->orelse.size() > taken.size())
                return s->args[0]->bits != 0 ? with_body(s, taken, none)
                                             : with_body(s, none, taken);
        }
        if (s->kind == StmtKind::While && is_zero(s->args[0])) return nullptr;
        return s;
    }
};

}  // namespace

bool is_constant(E e, std::int64_t& value) {
    if (!is_const(e) || e->dtype != DType::Int64) return false;
    value = value_of(e).get<std::int64_t>();
    return true;
}

E simplified(Builder& b, E e) {
    switch (e->kind) {
        case ExprKind::Unary:
            if (is_const(e->args[0]) && is_folded(e->op))
                return b.constant(eval(e->op, value_of(e->args[0])));
            if (e->op == Op::Not && e->args[0]->kind == ExprKind::Unary &&
                e->args[0]->op == Op::Not) {
                return e->args[0]->args[0];
            }
            return e;
        case ExprKind::Binary: return binary(b, e);
        case ExprKind::Select: {
            if (!is_const(e->args[0])) return may_fault(e) ? e : same_either_way(e);
            bool first = e->args[0]->bits != 0;
            return may_fault(e->args[first ? 2 : 1]) ? e : e->args[first ? 1 : 2];
        }
        case ExprKind::Cast:
            if (e->args[0]->dtype == e->dtype) return e->args[0];
            return is_const(e->args[0]) ? b.constant(cast(value_of(e->args[0]), e->dtype)) : e;
        case ExprKind::Fma:
            if (!is_const(e->args[0]) || !is_const(e->args[1]) || !is_const(e->args[2])) return e;
            return b.constant(fused_multiply_add(value_of(e->args[0]), value_of(e->args[1]),
                                                 value_of(e->args[2])));
        default: return e;
    }
}

void simplify(Module& module) {
    for (Function& f : module.functions) Simplify(f).run();
}

}  // namespace unisono::passes
