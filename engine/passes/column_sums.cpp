// Finds the sum, and what may stand in front of it, in it and behind it.
#include "passes/column_sums.h"

#include <algorithm>
#include <iterator>

#include "ir/rewrite.h"
#include "passes/linear_forms.h"

namespace unisono::passes {

using namespace ir;

bool is_one(E e) { return e && e->kind == ExprKind::Const && e->bits == 1; }

namespace {

bool reads(E e, std::int32_t var) {
    if (e->kind == ExprKind::Var && e->id == var) return true;
    return std::any_of(e->args.begin(), e->args.end(), [&](E a) { return reads(a, var); });
}

/// The last statement of the inner loop, which adds a term.
bool find_term(S s, ColumnSum& sum) {
    if (s->kind != StmtKind::Assign) return false;
    E value = s->args[0];
    if (value->kind != ExprKind::Binary || value->op != Op::Add || !is_float(value->dtype))
        return false;
    E old = value->args[0];
    sum.term = value->args[1];
    sum.var = s->id;
    return old->kind == ExprKind::Var && old->id == sum.var && !reads(sum.term, sum.var);
}

/// Whether the statement does nothing but raise where its condition holds.
bool raises(S s) {
    if (s->kind != StmtKind::If || !s->orelse.empty()) return false;
    std::vector<S> taken;
    flatten(s->body, taken);
    return taken.size() == 1 && taken[0]->kind == StmtKind::Return && taken[0]->fault >= 0;
}

/// A store or a declaration, whose loads the nest understands.
bool is_simple(S s) {
    if (s->kind == StmtKind::Store) return s->access == Access::Linear;
    return s->kind == StmtKind::Declare && !s->args.empty();
}

/// A loop over independent elements, as statements on arrays are.
bool is_update(S s) {
    if (s->kind != StmtKind::For || !s->reductions.empty() || s->numbers || s->any_order ||
        (s->loop != LoopKind::Parallel && s->loop != LoopKind::Vector) || !is_one(s->args[2]))
        return false;
    std::vector<S> body;
    flatten(s->body, body);
    return std::all_of(body.begin(), body.end(), is_simple);
}

/// What comes behind the sum: stores, declarations, tests of faults, and loops that update columns.
bool take_after(S s, ColumnSum& sum) {
    if (raises(s)) {
        sum.faults.push_back(s->args[0]);
        return true;
    }
    if (s->kind == StmtKind::If) {
        std::vector<S> taken;
        flatten(s->body, taken);
        if (taken.size() != 1 || !is_update(taken[0])) return false;
        sum.chosen.push_back(s->args[0]);
        s = taken[0];
    } else if (!is_simple(s) && !is_update(s)) {
        return false;
    }
    sum.after.push_back(s);
    return true;
}

}  // namespace

std::optional<ColumnSum> find_column_sum(S s) {
    if (!is_plain_loop(s)) return std::nullopt;
    ColumnSum sum;
    sum.outer = s;
    std::vector<S> all;
    flatten(s->body, all);
    auto inner = std::find_if(all.begin(), all.end(), [](S b) { return b->kind == StmtKind::For; });
    if (inner == all.end() || !is_plain_loop(*inner) || !(*inner)->any_order) return std::nullopt;
    sum.inner = *inner;
    flatten(sum.inner->body, sum.terms);
    if (sum.terms.empty() || !find_term(sum.terms.back(), sum)) return std::nullopt;
    sum.terms.pop_back();
    for (S t : sum.terms) {
        if (t->kind != StmtKind::Declare || t->args.empty() || reads(t->args[0], sum.var))
            return std::nullopt;
    }
    for (auto b = all.begin(); b != inner; ++b) {
        bool sets = (*b)->id == sum.var && !(*b)->args.empty() &&
                    ((*b)->kind == StmtKind::Declare || (*b)->kind == StmtKind::Assign);
        for (E a : (*b)->args) {
            if (reads(a, sum.var)) return std::nullopt;
        }
        if (sets && !sum.first) {
            sum.first = (*b)->args[0];
            sum.is_outside = (*b)->kind == StmtKind::Assign;
        } else if (raises(*b)) {
            sum.faults.push_back((*b)->args[0]);
        } else if ((*b)->kind == StmtKind::Declare && !(*b)->args.empty()) {
            sum.before.push_back(*b);
        } else {
            return std::nullopt;
        }
    }
    if (!sum.first) return std::nullopt;
    for (auto b = std::next(inner); b != all.end(); ++b) {
        if (!take_after(*b, sum)) return std::nullopt;
    }
    return sum;
}

}  // namespace unisono::passes
