// Deep copies of expressions and statements.
#include "ir/clone.h"

namespace unisono::ir {

E Cloner::expression(E e) {
    if (replace_expression) {
        if (E other = replace_expression(e)) return other;
    }
    Expr copy = *e;
    std::vector<E> args;
    for (E a : e->args) args.push_back(expression(a));
    copy.args = to_.list(std::span<const E>(args));
    return to_.own(copy);
}

S Cloner::statement(S s) {
    if (replace_statement) {
        if (S other = replace_statement(s)) return other;
    }
    Stmt copy = *s;
    std::vector<E> args;
    std::vector<S> body, orelse;
    for (E a : s->args) args.push_back(expression(a));
    for (S b : s->body) body.push_back(statement(b));
    for (S b : s->orelse) orelse.push_back(statement(b));
    Arena& arena = *to_.function().arena;
    copy.args = to_.list(std::span<const E>(args));
    copy.body = to_.list(std::span<const S>(body));
    copy.orelse = to_.list(std::span<const S>(orelse));
    copy.reductions = arena.copy(s->reductions);
    copy.arrays = arena.copy(s->arrays);
    copy.outs = arena.copy(s->outs);
    return to_.own(copy);
}

static Function copied(const Function& from, std::int32_t first) {
    Function made(from.name);
    Builder b(made);
    Cloner cloner(b);
    made.params = from.params;
    made.arrays = from.arrays;
    for (Array& a : made.arrays) {
        if (a.offset) a.offset = cloner.expression(a.offset);
        for (E& e : a.extents) e = e ? cloner.expression(e) : e;
        for (E& e : a.view_strides) e = e ? cloner.expression(e) : e;
    }
    made.vars = from.vars;
    made.results = from.results;
    made.sites = from.sites;
    made.natives = from.natives;
    made.files = from.files;
    made.is_kernel = from.is_kernel;
    made.polls = from.polls;
    made.is_deferred = from.is_deferred;
    made.dimensions = from.dimensions;
    made.native = from.native;
    made.symbol = from.symbol;
    made.is_short = from.is_short;
    for (E e : from.grid) made.grid.push_back(cloner.expression(e));
    cloner.replace_statement = [&](S s) -> S {
        if (s->kind != StmtKind::Call) return nullptr;
        Stmt call = *s;
        call.id += first;
        std::vector<E> args;
        for (E a : s->args) args.push_back(cloner.expression(a));
        call.args = b.list(std::span<const E>(args));
        call.arrays = made.arena->copy(s->arrays);
        call.outs = made.arena->copy(s->outs);
        return b.own(call);
    };
    if (from.body) made.body = cloner.statement(from.body);
    return made;
}

std::int32_t append(Module& to, const Module& from) {
    auto first = static_cast<std::int32_t>(to.functions.size());
    for (const Function& f : from.functions) to.functions.push_back(copied(f, first));
    return first;
}

}  // namespace unisono::ir
