// Inserts statements before others; blocks are merged into the list that contains them.
#include "passes/cleanup/statements_before.h"

#include <utility>

namespace unisono::passes {

using namespace ir;

std::vector<S> StatementsBefore::flat(std::span<const S> list) {
    std::vector<S> out;
    flatten(each(list), out);
    return out;
}

S StatementsBefore::stmt(S s) {
    if (s->kind == StmtKind::Block) return with_body(s, flat(s->body), {});
    std::vector<S> outer = std::exchange(before_, {});
    S changed = s->kind == StmtKind::While ? loop_while(s) : statement(s);
    std::vector<S> all = std::exchange(before_, std::move(outer));
    if (all.empty()) return changed;
    all.push_back(changed);
    return b_.block(std::span<const S>(all));
}

S StatementsBefore::statement(S s) {
    std::vector<E> args(s->args.begin(), s->args.end());
    for (E& a : args) a = expr(a);
    return bodies(with_args(s, args));
}

S StatementsBefore::bodies(S s) {
    if (s->body.empty() && s->orelse.empty()) return s;
    std::vector<S> mine = std::exchange(before_, {});
    s = with_body(s, flat(s->body), flat(s->orelse));
    before_ = std::move(mine);
    return s;
}

S StatementsBefore::loop_while(S s) {
    E condition = expr(s->args[0]);
    std::vector<S> all = std::exchange(before_, {});
    std::vector<S> body = flat(s->body);
    if (all.empty()) {
        E args[] = {condition};
        return with_body(with_args(s, args), body, {});
    }
    b_.line = s->line;
    all.push_back(b_.branch(b_.unary(Op::Not, condition), b_.leave()));
    all.insert(all.end(), body.begin(), body.end());
    return b_.loop_while(b_.boolean(true), b_.block(std::span<const S>(all)));
}

}  // namespace unisono::passes
