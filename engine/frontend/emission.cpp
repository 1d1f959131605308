// What every floor of the walk emits: statements, faults, operations of numbers.
#include <algorithm>

#include "frontend/emission.h"
#include "frontend/native.h"
#include "ops/scalar_eval.h"

namespace unisono::frontend {

void Emission::at(const Place& place) {
    b_->line.file = file_;
    b_->line.line = place.line;
    b_->line.column = static_cast<std::uint16_t>(place.column);
}

/// Runs emit_body with an empty statement list and returns what it emitted.
std::vector<S> Emission::collect(const std::function<void()>& emit_body) {
    std::vector<S> list;
    auto* outer = std::exchange(out_, &list);
    emit_body();
    out_ = outer;
    return list;
}

void Emission::fault_if(E condition, ErrorKind kind, const std::string& message, const Place& place,
                        std::vector<E> values, std::int32_t exception) {
    if (auto known = constant_int(condition); known && !*known) return;
    at(place);
    S raised = b_->raise(b_->site(kind, message, exception), values);
    emit(b_->branch(condition, b_->block({raised})));
}

void Emission::refuse_cast(const std::string& op, DType from, DType to, const Place& place) {
    bool fits = is_complex(to) || (!is_complex(from) && (is_float(to) || !is_float(from)));
    if (is_bool(to) && !is_bool(from)) fits = false;
    if (!fits) {
        refuse(place,
               "'" + op + "' gives " + std::string(name(from)) + ", which an array of " +
                   std::string(name(to)) + " does not take in place",
               "assign to a new name, or convert the operand");
    }
}

/// A loop with a variable of its own.
void Emission::counted(ir::LoopKind kind, E begin, E end, const std::function<void(E)>& body) {
    std::int32_t k = b_->var("k", DType::Int64);
    if (auto low = lower_bound(begin)) lower_bounds_[k] = *low;
    begin = settle(begin);
    end = settle(end);
    std::vector<S> list = collect([&] { body(b_->read(k)); });
    emit(b_->loop(kind, k, begin, end, i64(1), b_->block(list)));
}

void Emission::list_loop(E begin, E end, const std::function<void(E)>& body) {
    std::int32_t k = b_->var("k", DType::Int64);
    lower_bounds_[k] = 0;
    std::vector<S> made = collect([&] { body(b_->read(k)); });
    emit(b_->loop(ir::LoopKind::Serial, k, begin, end, i64(1), b_->block(made)));
}

/// Calls a function of core/native/native.h; the first `results` values as it leaves them.
std::vector<E> Emission::native(const std::string& name, std::vector<E> values, int results) {
    std::vector<std::int32_t> outs;
    std::vector<E> list;
    for (int k = 0; k < results; ++k) {
        outs.push_back(declared("native", i64(0)));
        list.push_back(b_->read(outs.back()));
    }
    if (has_state(name)) ++instance_.in_order;
    emit(b_->native(name, values, outs));
    return list;
}

Value Emission::scalar(E e, Weak weak) const {
    Value v;
    v.type = weak == Weak::None ? Type::numpy(e->dtype) : Type::python(weak);
    bool is_byte = weak == Weak::Int && e->dtype == DType::UInt8;  // an item of bytes
    v.expr = is_byte ? b_->cast(e, DType::Int64) : e;
    return v;
}

E Emission::cast(E e, DType t) {
    if (e->kind == ir::ExprKind::Const && e->dtype != t && !is_complex(t)) {
        return b_->constant(unisono::cast(Scalar{e->bits, e->dtype}, t));
    }
    if (e->kind == ir::ExprKind::Const && is_complex(t))
        return b_->pair(cast(e, part_dtype(t)), b_->zero(part_dtype(t)));
    return b_->cast(e, t);
}

E Emission::op_unary(Op op, E a) {
    if (is_constant(a)) return b_->constant(eval(op, constant_of(a)));
    if (op == Op::Not && a->kind == ir::ExprKind::Unary && a->op == Op::Not) return a->args[0];
    return b_->unary(op, a);
}

E Emission::op_binary(Op op, E a, E b) {
    if (is_constant(a) && is_constant(b))
        return b_->constant(eval(op, constant_of(a), constant_of(b)));
    if (is_integer(a->dtype)) {
        bool right_is_zero = constant_int(b) == 0, left_is_zero = constant_int(a) == 0;
        if (right_is_zero && (op == Op::Add || op == Op::Sub)) return a;
        if (left_is_zero && op == Op::Add) return b;
        if (op == Op::Mul && constant_int(b) == 1) return a;
        if (op == Op::Mul && constant_int(a) == 1) return b;
        if (op == Op::Mul && left_is_zero) return a;
        if (op == Op::Mul && right_is_zero) return b;
    }
    return b_->binary(op, a, b);
}

Value Emission::apply(Op op, E a, E b, Weak weak) { return scalar(op_binary(op, a, b), weak); }

/// An index that no pass can bound: it depends on data.
bool Emission::is_gathered(E e) {
    bool is_plain = e->kind == ir::ExprKind::Var || e->kind == ir::ExprKind::Const ||
                    e->kind == ir::ExprKind::Param ||
                    (e->kind == ir::ExprKind::Binary &&
                     (e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul));
    return !is_plain || std::any_of(e->args.begin(), e->args.end(), is_gathered);
}

/// A value that the index cannot fall below, where one is known. Sums and products of indices in
/// range do not overflow: extents are below 2^63 bytes.
std::optional<std::int64_t> Emission::lower_bound(E e) const {
    switch (e->kind) {
        case ir::ExprKind::Const: return static_cast<std::int64_t>(e->bits);
        case ir::ExprKind::Param:
            return e->field == ir::Field::Extent ? std::optional<std::int64_t>(0) : std::nullopt;
        case ir::ExprKind::WorkItem: return 0;
        case ir::ExprKind::Var: {
            auto it = lower_bounds_.find(e->id);
            return it == lower_bounds_.end() ? std::nullopt : std::optional(it->second);
        }
        case ir::ExprKind::Binary: break;
        default: return std::nullopt;
    }
    auto a = lower_bound(e->args[0]), b = lower_bound(e->args[1]);
    auto subtracted = constant_int(e->args[1]);
    constexpr std::int64_t limit = std::int64_t{1} << 62;
    auto is_small = [&](std::int64_t v) { return v > -limit && v < limit; };
    if (!a || !is_small(*a)) return std::nullopt;
    if (e->op == Op::Sub && subtracted && is_small(*subtracted)) return *a - *subtracted;
    if (!b || !is_small(*b)) return std::nullopt;
    if (e->op == Op::Add) return *a + *b;
    bool is_positive = *a >= 0 && *b >= 0;
    bool keeps_sign = e->op == Op::Mul || e->op == Op::FloorDiv || e->op == Op::Mod;
    return is_positive && keeps_sign ? std::optional<std::int64_t>(0) : std::nullopt;
}

ir::Access Emission::access_for(std::span<const E> indices) const {
    if (source_.options.trusts_indices) return ir::Access::Inside;
    bool sure = std::all_of(indices.begin(), indices.end(),
                            [&](E e) { return lower_bound(e).value_or(-1) >= 0; });
    bool is_trusted =
        !source_.options.checks_bounds && std::all_of(indices.begin(), indices.end(), [&](E e) {
            return lower_bound(e).value_or(-1) >= 0 || is_gathered(e);
        });
    if (is_trusted) return ir::Access::Inside;
    return sure || !source_.options.counts_from_end ? ir::Access::Checked : ir::Access::Wrapped;
}

}  // namespace unisono::frontend
