// Bounds of loops, by the text of what they run to.
#include "backends/llvm/loop_bounds.h"

#include <algorithm>

#include "ir/rewrite.h"

namespace unisono::codegen {

using ir::E;
using ir::ExprKind;
using ir::S;
using ir::StmtKind;

namespace {

constexpr std::int64_t low = 1 << 24;  ///< some milliseconds of simple iterations

bool is_constant(E e, std::int64_t from, std::int64_t to) {
    auto value = static_cast<std::int64_t>(e->bits);
    return e->kind == ExprKind::Const && value >= from && value <= to;
}

/// The variable that the loop's condition wants to be positive; -1 where there is none.
std::int32_t positive_variable(E condition) {
    if (condition->kind != ExprKind::Binary) return -1;
    E left = condition->args[0], right = condition->args[1];
    if (condition->op == Op::And) {
        std::int32_t first = positive_variable(left);
        return first >= 0 ? first : positive_variable(right);
    }
    if (condition->op == Op::Lt) std::swap(left, right);
    const bool is_test = condition->op == Op::Gt || condition->op == Op::Lt;
    const bool is_zero = right->kind == ExprKind::Const && right->bits == 0;
    return is_test && left->kind == ExprKind::Var && is_zero ? left->id : -1;
}

/// `v = v >> k` or `v = v // k`.
bool is_halving(S s, std::int32_t variable) {
    if (s->kind != StmtKind::Assign || s->id != variable) return false;
    E value = s->args[0];
    if (value->kind != ExprKind::Binary || !is_integer(value->dtype) ||
        value->args[0]->kind != ExprKind::Var || value->args[0]->id != variable)
        return false;
    E by = value->args[1];
    return (value->op == Op::Shr && is_constant(by, 1, 63)) ||
           (value->op == Op::FloorDiv && is_constant(by, 2, INT64_MAX));
}

bool sets(S s, std::int32_t variable) {
    const bool is_own = s->kind == StmtKind::Assign || s->kind == StmtKind::Declare;
    if (is_own && s->id == variable) return true;
    auto inside = [=](S inner) { return sets(inner, variable); };
    return std::ranges::find(s->outs, variable) != s->outs.end() ||
           std::ranges::any_of(s->body, inside) || std::ranges::any_of(s->orelse, inside);
}

}  // namespace

LoopBounds::LoopBounds(const ir::Function& f) {
    if (f.body) note(f.body);
}

void LoopBounds::note(S s) {
    if (s->kind == StmtKind::For) loops_[s->id] = s;
    if (s->kind == StmtKind::Declare) {
        E value = s->args.empty() ? nullptr : s->args[0];
        if (!values_.emplace(s->id, value).second) values_[s->id] = nullptr;
    }
    if (s->kind == StmtKind::Assign) values_[s->id] = nullptr;
    for (std::int32_t out : s->outs) values_[out] = nullptr;
    for (S inner : s->body) note(inner);
    for (S inner : s->orelse) note(inner);
}

bool LoopBounds::ends_soon(S loop) const {
    E begin = loop->args[0], end = loop->args[1], step = loop->args[2];
    if (is_constant(step, 1, INT64_MAX)) return is_not_negative(begin) && is_low(end);
    bool is_end = is_constant(end, -low, INT64_MAX) || is_not_negative(end);
    return is_constant(step, INT64_MIN, -1) && is_low(begin) && is_end;
}

bool LoopBounds::halves(S loop) {
    const std::int32_t v = positive_variable(loop->args[0]);
    if (v < 0) return false;
    int halvings = 0;
    for (S s : loop->body) {
        if (ir::contains(s, StmtKind::Continue)) return false;
        if (is_halving(s, v))
            ++halvings;
        else if (sets(s, v))
            return false;
    }
    return halvings > 0;
}

/// Whether the number is at most `low` or so, or an extent.
bool LoopBounds::is_low(E e) const {
    if (e->kind == ExprKind::Param) return e->field == ir::Field::Extent;
    if (e->kind == ExprKind::Const) return is_constant(e, INT64_MIN, low);
    if (e->kind == ExprKind::Var) {
        auto loop = loops_.find(e->id);
        if (loop != loops_.end())
            return is_constant(loop->second->args[0], -low, low) &&
                   is_constant(loop->second->args[2], 1, low);
        auto value = values_.find(e->id);
        return value != values_.end() && value->second && is_low(value->second);
    }
    if (e->kind != ExprKind::Binary) return false;
    E left = e->args[0], right = e->args[1];
    switch (e->op) {
        case Op::Min: return is_low(left) || is_low(right);
        case Op::Max: return is_low(left) && is_low(right);
        case Op::Mod: return is_constant(right, 1, low);
        case Op::Add: return is_low(left) && is_low(right);
        case Op::Sub: return is_low(left) && is_not_negative(right);
        case Op::FloorDiv: return is_low(left) && is_constant(right, 1, low);
        default: return false;
    }
}

bool LoopBounds::is_not_negative(E e) const {
    if (e->kind == ExprKind::Param) return e->field == ir::Field::Extent;
    if (e->kind == ExprKind::Const) return is_constant(e, 0, INT64_MAX);
    if (e->kind == ExprKind::Var) {
        auto loop = loops_.find(e->id);
        if (loop != loops_.end())
            return is_not_negative(loop->second->args[0]) &&
                   is_constant(loop->second->args[2], 1, low);
        auto value = values_.find(e->id);
        return value != values_.end() && value->second && is_not_negative(value->second);
    }
    if (e->kind != ExprKind::Binary) return false;
    E left = e->args[0], right = e->args[1];
    switch (e->op) {
        case Op::Max: return is_not_negative(left) || is_not_negative(right);
        case Op::Min:
        case Op::Add:
        case Op::Mul: return is_not_negative(left) && is_not_negative(right);
        case Op::Mod: return is_constant(right, 1, low);
        case Op::FloorDiv: return is_not_negative(left) && is_constant(right, 1, low);
        default: return false;
    }
}

}  // namespace unisono::codegen
