// Looks at expressions, conditions and sums of loops that speculate_faults computes ahead.
#include "passes/analysis/speculation.h"

#include <algorithm>

#include "ir/rewrite.h"
#include "ops/functions/table.h"

namespace unisono::passes {

using namespace ir;

namespace {

void mark_declared(std::span<const S> list, std::vector<std::int32_t>& out) {
    for (S s : list) {
        if (s->kind == StmtKind::Declare) out.push_back(s->id);
        mark_declared(s->body, out);
        mark_declared(s->orelse, out);
    }
}

bool is_one_of(std::span<const std::int32_t> list, std::int32_t v) {
    return std::find(list.begin(), list.end(), v) != list.end();
}

void mark_assigned(std::span<const S> list, std::vector<std::int32_t>& out) {
    for (S s : list) {
        if (s->kind == StmtKind::Assign) out.push_back(s->id);
        out.insert(out.end(), s->outs.begin(), s->outs.end());
        mark_assigned(s->body, out);
        mark_assigned(s->orelse, out);
    }
}
int reads_of(E e, std::int32_t v) {
    int n = e->kind == ExprKind::Var && e->id == v;
    for (E a : e->args) n += reads_of(a, v);
    return n;
}
void find_uses(std::span<const S> list, std::int32_t v, int& reads, int& sums) {
    for (S s : list) {
        for (E e : s->args) reads += reads_of(e, v);
        if (s->kind == StmtKind::Assign && s->id == v) {
            E e = s->args[0];
            const bool is_sum =
                e->kind == ExprKind::Binary &&
                (((e->op == Op::Add || e->op == Op::Sub) && reads_of(e->args[0], v) == 1 &&
                  e->args[0]->kind == ExprKind::Var) ||
                 (e->op == Op::Add && e->args[1]->kind == ExprKind::Var && e->args[1]->id == v));
            sums += is_sum ? 1 : 2;
        }
        if (is_one_of(s->outs, v)) sums += 2;
        find_uses(s->body, v, reads, sums);
        find_uses(s->orelse, v, reads, sums);
    }
}

}  // namespace

bool is_final(std::span<const S> list) {
    if (list.empty()) return false;
    S last = list.back();
    if (last->kind == StmtKind::If) return is_final(last->body) && is_final(last->orelse);
    return last->kind == StmtKind::Return ||
           (last->kind == StmtKind::Block && is_final(last->body));
}

bool is_computed(E e) {
    switch (e->kind) {
        case ExprKind::Const:
        case ExprKind::Var:
        case ExprKind::Fma:
        case ExprKind::Select:
        case ExprKind::Cast:
        case ExprKind::Param: break;
        case ExprKind::Load:
            if (e->access != Access::Linear) return false;
            break;
        case ExprKind::Unary:
        case ExprKind::Binary: {
            const bool is_division = e->op == Op::FloorDiv || e->op == Op::Mod ||
                                     e->op == Op::Fmod || e->op == Op::Gcd || e->op == Op::Lcm ||
                                     e->op == Op::NextAfter;
            const bool is_other = is_math(e->op) && !functions::is_own(e->op);
            if (is_division || is_other || (is_math(e->op) && !is_float(e->dtype))) return false;
            if (e->op == Op::Div && !is_float(e->dtype)) return false;
            break;
        }
        default: return false;
    }
    return !is_complex(e->dtype) && e->dtype != DType::Float16 &&
           std::all_of(e->args.begin(), e->args.end(), is_computed);
}

bool has_function(E e) {
    const bool is_operation = e->kind == ExprKind::Unary || e->kind == ExprKind::Binary;
    return (is_operation && (is_math(e->op) || e->op == Op::Sqrt)) ||
           std::any_of(e->args.begin(), e->args.end(), has_function);
}

bool compares_floats(E e) {
    if (e->kind == ExprKind::Var || e->kind == ExprKind::Param || e->kind == ExprKind::Load)
        return false;
    const bool looks = e->kind == ExprKind::Binary || e->kind == ExprKind::Unary;
    if (looks && !is_bool(e->args[0]->dtype)) return is_float(e->args[0]->dtype);
    return std::all_of(e->args.begin(), e->args.end(), compares_floats);
}

std::optional<std::vector<std::int32_t>> sums_of(S loop) {
    std::vector<std::int32_t> changed, own, sums;
    mark_assigned(loop->body, changed);
    mark_declared(loop->body, own);
    for (std::int32_t v : changed) {
        if (is_one_of(own, v)) continue;
        int reads = 0;
        int added = 0;
        find_uses(loop->body, v, reads, added);
        if (added != 1 || reads != 1) return std::nullopt;
        sums.push_back(v);
    }
    return sums;
}

}  // namespace unisono::passes
