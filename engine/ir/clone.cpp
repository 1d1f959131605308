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

}  // namespace unisono::ir
