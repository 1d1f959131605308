// Rebuilds nodes whose children changed.
#include "ir/rewrite.h"

#include <algorithm>

namespace unisono::ir {

E Rewriter::children(E e) {
    std::vector<E> args(e->args.begin(), e->args.end());
    for (E& a : args) a = expr(a);
    if (std::equal(args.begin(), args.end(), e->args.begin())) return e;
    Expr changed = *e;
    changed.args = b_.list(std::span<const E>(args));
    return b_.own(changed);
}

S Rewriter::with_args(S s, std::span<const E> args) {
    if (std::equal(args.begin(), args.end(), s->args.begin(), s->args.end())) return s;
    Stmt changed = *s;
    changed.args = b_.list(args);
    return b_.own(changed);
}

S Rewriter::with_body(S s, std::span<const S> body, std::span<const S> orelse) {
    if (std::equal(body.begin(), body.end(), s->body.begin(), s->body.end()) &&
        std::equal(orelse.begin(), orelse.end(), s->orelse.begin(), s->orelse.end())) {
        return s;
    }
    Stmt changed = *s;
    changed.body = b_.list(body);
    changed.orelse = b_.list(orelse);
    return b_.own(changed);
}

std::vector<S> Rewriter::each(std::span<const S> list) {
    std::vector<S> out;
    out.reserve(list.size());
    for (S s : list) {
        if (S changed = stmt(s)) out.push_back(changed);
    }
    return out;
}

S Rewriter::children(S s) {
    std::vector<E> args(s->args.begin(), s->args.end());
    for (E& a : args) a = expr(a);
    s = with_args(s, args);
    if (s->body.empty() && s->orelse.empty()) return s;
    std::vector<S> body = each(s->body);
    std::vector<S> orelse = each(s->orelse);
    return with_body(s, body, orelse);
}

S Rewriter::body(S s) {
    S changed = stmt(s);
    return changed ? changed : b_.block(std::span<const S>());
}

S as_one(Builder& b, std::span<const S> list) {
    return list.size() == 1 ? list.front() : b.block(list);
}

void flatten(std::span<const S> list, std::vector<S>& out) {
    for (S s : list) {
        if (s->kind == StmtKind::Block) {
            flatten(s->body, out);
        } else {
            out.push_back(s);
        }
    }
}

void mark_written(S s, std::vector<bool>& out) {
    if (s->kind == StmtKind::Declare || s->kind == StmtKind::Assign || s->kind == StmtKind::For) {
        out[static_cast<std::size_t>(s->id)] = true;
    }
    for (std::int32_t v : s->outs) out[static_cast<std::size_t>(v)] = true;
    for (S b : s->body) mark_written(b, out);
    for (S b : s->orelse) mark_written(b, out);
}

bool contains(S s, StmtKind kind) {
    if (s->kind == kind) return true;
    auto inside = [&](S b) { return contains(b, kind); };
    return std::any_of(s->body.begin(), s->body.end(), inside) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), inside);
}

bool same(E a, E b) {
    if (a == b) return true;
    return a->kind == b->kind && a->dtype == b->dtype && a->op == b->op && a->field == b->field &&
           a->query == b->query && a->access == b->access && a->id == b->id && a->axis == b->axis &&
           a->bits == b->bits &&
           std::equal(a->args.begin(), a->args.end(), b->args.begin(), b->args.end(), same);
}

}  // namespace unisono::ir
