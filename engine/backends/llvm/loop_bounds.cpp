// Bounds of loops, by the text of what they run to.
#include "backends/llvm/loop_bounds.h"

#include <algorithm>

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
