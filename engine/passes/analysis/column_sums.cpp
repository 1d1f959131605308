// Matches the sum and the statements that are allowed before, in and after its loop.
#include "passes/analysis/column_sums.h"

#include <algorithm>
#include <iterator>

#include "ir/rewrite.h"
#include "passes/analysis/linear_forms.h"

namespace unisono::passes {

using namespace ir;

bool is_one(E e) { return e && e->kind == ExprKind::Const && e->bits == 1; }

namespace {

bool reads(E e, std::int32_t var) {
    if (e->kind == ExprKind::Var && e->id == var) return true;
    return std::any_of(e->args.begin(), e->args.end(), [&](E a) { return reads(a, var); });
}

/// A loop that adds terms to a variable, if it is one.
bool take_sum(S s, ColumnStep& step) {
    if (!is_plain_loop(s) || !s->any_order) return false;
    flatten(s->body, step.body);
    if (step.body.empty() || step.body.back()->kind != StmtKind::Assign) return false;
    E value = step.body.back()->args[0];
    step.sum = step.body.back()->id;
    step.body.pop_back();
    if (value->kind != ExprKind::Binary || value->op != Op::Add || !is_float(value->dtype))
        return false;
    E old = value->args[0];
    step.term = value->args[1];
    return old->kind == ExprKind::Var && old->id == step.sum && !reads(step.term, step.sum) &&
           std::all_of(step.body.begin(), step.body.end(), [&](S t) {
               return t->kind == StmtKind::Declare && !t->args.empty() &&
                      !reads(t->args[0], step.sum);
           });
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

/// Stores, declarations, tests of faults, loops that update columns or add.
bool take(S s, ColumnSum& sum) {
    if (raises(s)) {
        sum.faults.push_back(s->args[0]);
        return true;
    }
    ColumnStep step;
    if (s->kind == StmtKind::If) {
        std::vector<S> taken;
        flatten(s->body, taken);
        if (taken.size() != 1 || !is_update(taken[0])) return false;
        sum.chosen.push_back(s->args[0]);
        s = taken[0];
    }
    step.statement = s;
    if (is_update(s)) {
        flatten(s->body, step.body);
    } else if (s->kind == StmtKind::For) {
        if (!take_sum(s, step)) return false;
    } else if (s->kind == StmtKind::Assign) {
        step.sum = s->id;
    } else if (!is_simple(s)) {
        return false;
    }
    if (step.is_loop() && !sum.inner) sum.inner = s;
    sum.steps.push_back(std::move(step));
    return true;
}

bool reads(const ColumnStep& step, std::int32_t var) {
    auto does = [&](S s) {
        return std::any_of(s->args.begin(), s->args.end(), [&](E a) { return reads(a, var); });
    };
    return does(step.statement) || (step.term && reads(step.term, var)) ||
           std::any_of(step.body.begin(), step.body.end(), does);
}

/// Whether the variable is set once, added to at most once behind that, and read behind that only.
bool check_variable(ColumnSum& sum, std::int32_t var) {
    ColumnStep* set = nullptr;
    const ColumnStep* last = nullptr;
    for (ColumnStep& s : sum.steps) {
        if (s.term) {
            if (s.sum != var) continue;
            if (!set || last != set) return false;
            last = &s;
        } else if (s.statement->id == var && (s.statement->kind == StmtKind::Declare ||
                                              s.statement->kind == StmtKind::Assign)) {
            if (set) return false;
            last = set = &s;
        }
    }
    for (const ColumnStep& s : sum.steps) {
        if (&s == last) break;
        if (reads(s, var)) return false;
    }
    if (!set || (!last->term && reads(*last, var))) return false;
    set->sum = var;
    const bool is_known =
        std::find(sum.outside.begin(), sum.outside.end(), var) != sum.outside.end();
    if (set->statement->kind == StmtKind::Assign && !is_known) sum.outside.push_back(var);
    return true;
}

/// The same for all variables other than plain declarations.
bool check_variables(ColumnSum& sum) {
    for (std::size_t k = 0; k < sum.steps.size(); ++k) {
        const ColumnStep& s = sum.steps[k];
        if (s.sum >= 0 && !check_variable(sum, s.sum)) return false;
    }
    return true;
}

}  // namespace

std::optional<ColumnSum> find_column_sum(S s) {
    if (!is_plain_loop(s)) return std::nullopt;
    ColumnSum sum;
    sum.outer = s;
    std::vector<S> all;
    flatten(s->body, all);
    bool is_known = std::all_of(all.begin(), all.end(), [&](S b) { return take(b, sum); });
    if (!is_known || !sum.inner || !check_variables(sum)) return std::nullopt;
    return sum;
}

}  // namespace unisono::passes
