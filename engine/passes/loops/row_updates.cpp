// Finds the rows, and shows that lanes may run ahead.
#include "passes/loops/row_updates.h"

#include <algorithm>
#include <iterator>

#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

/// Integers combined in any order give the same bits.
bool has_no_order(Op op, DType t) {
    bool is_known = op == Op::Add || op == Op::Mul || op == Op::Min || op == Op::Max ||
                    op == Op::And || op == Op::Or || op == Op::Xor;
    return is_known && is_integer(t);
}

}  // namespace

bool is_literal(E e, std::int64_t value) {
    std::int64_t known = 0;
    return e && is_constant(e, known) && known == value;
}

std::optional<Row> find_row(S outer) {
    if (!is_plain_loop(outer)) return std::nullopt;
    Row row;
    row.outer = outer;
    std::vector<S> all;
    flatten(outer->body, all);
    auto is_loop = [](S s) { return s->kind == StmtKind::For; };
    auto inner = std::find_if(all.begin(), all.end(), is_loop);
    if (inner == all.end() || !is_plain_loop(*inner) || (*inner)->any_order) return std::nullopt;
    row.inner = *inner;
    row.before.assign(all.begin(), inner);
    row.after.assign(std::next(inner), all.end());
    std::vector<S> body;
    flatten(row.inner->body, body);
    if (body.size() != 1 || body[0]->kind != StmtKind::Store || body[0]->access != Access::Linear ||
        body[0]->streaming) {
        return std::nullopt;
    }
    row.store = body[0];
    E value = row.store->args[1];
    if (value->kind != ExprKind::Binary || is_complex(value->dtype) ||
        value->dtype == DType::Bool) {
        return std::nullopt;
    }
    auto is_element = [&](E e) {
        return e->kind == ExprKind::Load && e->access == Access::Linear && e->id == row.store->id &&
               same(e->args[0], row.store->args[0]);
    };
    row.is_first = is_element(value->args[0]);
    row.term = value->args[row.is_first ? 1 : 0];
    if (!row.is_first && !is_element(value->args[1])) return std::nullopt;
    return row;
}

Ahead::Ahead(Builder& b, const Row& row, S widest, const ScalarFunctions& scalar)
    : b_(b), row_(row), scalar_(scalar), nest_(b, row.outer, widest) {
    written_.resize(b.function().vars.size());
    mark_written(row.outer, written_);
    std::vector<bool> again(written_.size());
    for (S s : row.before) {
        if (s->kind != StmtKind::Declare) mark_written(s, again);
    }
    for (S s : row.after) mark_written(s, again);
    for (S s : row.before) {
        bool is_known = s->kind == StmtKind::Declare && !s->args.empty();
        if (is_known && !again[static_cast<std::size_t>(s->id)]) nest_.define(s->id, s->args[0]);
    }
}

E Ahead::test() {
    element_ = {row_.store->id, true, nest_.form(row_.store->args[0])};
    if (!element_.form || element_.form->inner || !is_literal(element_.form->outer, 1))
        return nullptr;
    if (!reads_only_loops(row_.store->args[0]) || !reads_only_loops(row_.term)) return nullptr;
    if (!term()) return nullptr;
    if (!std::all_of(row_.before.begin(), row_.before.end(), [&](S s) { return front(s); }))
        return nullptr;
    if (stores_in_front_ && !has_no_order(row_.op(), row_.store->args[1]->dtype)) return nullptr;
    if (!std::all_of(row_.after.begin(), row_.after.end(), [&](S s) { return behind(s); }))
        return nullptr;
    E test = nest_.apart_from(element_, others_);
    for (E assumed : nest_.assumed()) {
        if (test) test = b_.binary(Op::And, test, assumed);
    }
    return test;
}

bool Ahead::reads_only_loops(E e) const {
    if (e->kind == ExprKind::Var && e->id != row_.outer->id && e->id != row_.inner->id &&
        written_[static_cast<std::size_t>(e->id)]) {
        return false;
    }
    return std::all_of(e->args.begin(), e->args.end(), [&](E a) { return reads_only_loops(a); });
}

/// How far the access lies from where `like` is in the row, along the same loop; false where
/// that is not known.
bool Ahead::distance(const LinearForm& form, std::int64_t& out) {
    out = 0;
    E from = element_.form->rest;
    E to = form.rest;
    if (from == to || (from && to && same(from, to))) return true;
    return constant_difference(to, from, out);
}

void Ahead::other(const NestAccess& a) {
    if (std::find(others_.begin(), others_.end(), a) == others_.end()) others_.push_back(a);
}

/// Terms may read the row up to where the first lane stands, and what is not in it.
bool Ahead::term() {
    std::vector<NestAccess> all;
    if (!nest_.loads(row_.term, all)) return false;
    bool gains = false;
    for (const NestAccess& a : all) {
        if (!a.form) return false;
        std::int64_t literal = 0;
        gains = gains || (is_literal(a.form->outer, 1) && a.form->inner &&
                          !is_constant(a.form->inner, literal));
        std::int64_t from = 0;
        bool in_row = a.array == element_.array && !a.form->outer && is_literal(a.form->inner, 1) &&
                      distance(*a.form, from);
        if (in_row && from <= -row_.end) continue;
        other(a);
    }
    return gains;
}

bool Ahead::is_element(E e) {
    return e->kind == ExprKind::Load && e->access == Access::Linear &&
           is_element(e->id, e->args[0]);
}

/// Whether the expression reads nothing of the row from this element on, but for itself where
/// that is allowed.
bool Ahead::is_known(E e, bool may_read_element) {
    // Copies from in front of the loop are not what they would be without lanes.
    if (is_copy(e)) return may_read_element && is_element(e);
    if (e->kind == ExprKind::WorkItem || e->kind == ExprKind::Memory) return false;
    if (e->kind == ExprKind::Load) {
        if (e->access != Access::Linear) return false;
        NestAccess a{e->id, false, nest_.form(e->args[0])};
        std::int64_t from = 0;
        bool in_row = a.array == element_.array && a.form && !a.form->inner &&
                      is_literal(a.form->outer, 1) && distance(*a.form, from);
        if (!in_row || from >= 0) other(a);
    }
    return std::all_of(e->args.begin(), e->args.end(),
                       [&](E a) { return is_known(a, may_read_element); });
}

bool Ahead::is_copy(E e) {
    return is_element(e) || (e->kind == ExprKind::Var &&
                             std::find(copies_.begin(), copies_.end(), e->id) != copies_.end());
}

/// A statement in front of the inner loop: the element only takes part in the same operation.
bool Ahead::front(S s) {
    if (s->kind == StmtKind::Declare && !s->args.empty() && is_element(s->args[0])) {
        copies_.push_back(s->id);
        return true;
    }
    if (s->kind == StmtKind::Store) {
        E value = s->args.back();
        bool updates = s->id == element_.array && s->access == Access::Linear && !s->streaming &&
                       nest_.form(s->args[0]) == element_.form && value->kind == ExprKind::Binary &&
                       value->op == row_.op();
        if (!updates) return false;
        stores_in_front_ = true;
        E x = value->args[0];
        E y = value->args[1];
        return (is_copy(x) && is_known(y, false)) || (is_copy(y) && is_known(x, false));
    }
    return simple(s, false) &&
           std::all_of(s->body.begin(), s->body.end(), [&](S b) { return front(b); }) &&
           std::all_of(s->orelse.begin(), s->orelse.end(), [&](S b) { return front(b); });
}

bool Ahead::behind(S s) {
    if (s->kind == StmtKind::Store) {
        return s->id == element_.array && s->access == Access::Linear &&
               nest_.form(s->args[0]) == element_.form && is_known(s->args.back(), true);
    }
    return simple(s, true) &&
           std::all_of(s->body.begin(), s->body.end(), [&](S b) { return behind(b); }) &&
           std::all_of(s->orelse.begin(), s->orelse.end(), [&](S b) { return behind(b); });
}

/// What computes with scalars, whatever its body does.
bool Ahead::simple(S s, bool may_read_element) {
    switch (s->kind) {
        case StmtKind::Block:
        case StmtKind::Declare:
        case StmtKind::Assign:
        case StmtKind::If: break;
        case StmtKind::Call:
            if (!s->arrays.empty() || !scalar_[s->id]) return false;
            break;
        default: return false;
    }
    return std::all_of(s->args.begin(), s->args.end(),
                       [&](E e) { return is_known(e, may_read_element); });
}

}  // namespace unisono::passes
