// Finds the rows, shows that lanes may run ahead, and writes them.
#include "passes/updates_in_strips.h"

#include <algorithm>
#include <iterator>

#include "passes/linear_forms.h"
#include "passes/scalar_functions.h"
#include "passes/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::int64_t strip_bytes = 32;  // longer strips leave more to do one by one

bool is_literal(E e, std::int64_t value) {
    std::int64_t known = 0;
    return e && is_constant(e, known) && known == value;
}

/// Whether sums of such numbers are numbers.
bool is_small(std::int64_t value) {
    constexpr std::int64_t most = std::int64_t{1} << 48;
    return value >= -most && value <= most;
}

/// Integers combined in any order give the same bits.
bool has_no_order(Op op, DType t) {
    bool is_known = op == Op::Add || op == Op::Mul || op == Op::Min || op == Op::Max ||
                    op == Op::And || op == Op::Or || op == Op::Xor;
    return is_known && is_integer(t);
}

/// A loop over the elements of a row, and the loop in it that updates one.
struct Row {
    S outer = nullptr, inner = nullptr, store = nullptr;
    E term = nullptr;      ///< what an element is combined with
    bool is_first = true;  ///< the element is the operation's first operand
    std::vector<S> before, after;
    E low = nullptr;       ///< where the inner loop begins
    std::int64_t end = 0;  ///< where it ends, from the outer loop's variable on
};

class Put final : public Rewriter {
  public:
    Put(Function& f, std::int32_t var, E value) : Rewriter(f), var_(var), value_(value) {}
    E expr(E e) override {
        return e->kind == ExprKind::Var && e->id == var_ ? value_ : children(e);
    }

  private:
    std::int32_t var_;
    E value_;
};

/// What statements and terms of a row touch, and whether lanes may run ahead of it.
class Ahead {
  public:
    Ahead(Builder& b, const Row& row, S widest, const ScalarFunctions& scalar)
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
            if (is_known && !again[static_cast<std::size_t>(s->id)])
                nest_.define(s->id, s->args[0]);
        }
    }

    LoopNest& nest() { return nest_; }

    /// A test in front of the row, or null.
    E test() {
        element_ = {row_.store->id, true, nest_.form(row_.store->args[0])};
        if (!element_.form || element_.form->inner || !is_literal(element_.form->outer, 1))
            return nullptr;
        if (!reads_only_loops(row_.store->args[0]) || !reads_only_loops(row_.term)) return nullptr;
        if (!term()) return nullptr;
        if (!std::all_of(row_.before.begin(), row_.before.end(), [&](S s) { return front(s); }))
            return nullptr;
        if (stores_in_front_ && !has_no_order(op(), row_.store->args[1]->dtype)) return nullptr;
        if (!std::all_of(row_.after.begin(), row_.after.end(), [&](S s) { return behind(s); }))
            return nullptr;
        E test = nest_.apart_from(element_, others_);
        for (E assumed : nest_.assumed()) {
            if (test) test = b_.binary(Op::And, test, assumed);
        }
        return test;
    }

  private:
    Op op() const { return row_.store->args[1]->op; }

    bool reads_only_loops(E e) const {
        if (e->kind == ExprKind::Var && e->id != row_.outer->id && e->id != row_.inner->id &&
            written_[static_cast<std::size_t>(e->id)]) {
            return false;
        }
        return std::all_of(e->args.begin(), e->args.end(),
                           [&](E a) { return reads_only_loops(a); });
    }

    /// How far the access lies from where `like` is in the row, along the same loop; false where
    /// that is not known.
    bool distance(const LinearForm& form, std::int64_t& out) {
        out = 0;
        E from = element_.form->rest;
        E to = form.rest;
        if (from == to || (from && to && same(from, to))) return true;
        return form_difference(to, from, out);
    }

    /// Sums that differ in what is constant.
    static bool form_difference(E to, E from, std::int64_t& out) {
        std::int64_t a = 0;
        std::int64_t b = 0;
        auto base = [](E e, std::int64_t& constant) -> E {
            constant = 0;
            if (!e || is_constant(e, constant)) return nullptr;
            std::int64_t part = 0;
            while (e->kind == ExprKind::Binary && (e->op == Op::Add || e->op == Op::Sub) &&
                   is_constant(e->args[1], part) && is_small(part) && is_small(constant)) {
                constant += e->op == Op::Add ? part : -part;
                e = e->args[0];
            }
            return e;
        };
        E x = base(to, a);
        E y = base(from, b);
        if (!is_small(a) || !is_small(b)) return false;
        out = a - b;
        return x == y || (x && y && same(x, y));
    }

    void other(const NestAccess& a) {
        if (std::find(others_.begin(), others_.end(), a) == others_.end()) others_.push_back(a);
    }

    /// Terms may read the row up to where the first lane stands, and what is not in it.
    bool term() {
        std::vector<NestAccess> all;
        if (!nest_.loads(row_.term, all)) return false;
        bool gains = false;
        for (const NestAccess& a : all) {
            if (!a.form) return false;
            std::int64_t literal = 0;
            gains = gains || (is_literal(a.form->outer, 1) && a.form->inner &&
                              !is_constant(a.form->inner, literal));
            std::int64_t from = 0;
            bool in_row = a.array == element_.array && !a.form->outer &&
                          is_literal(a.form->inner, 1) && distance(*a.form, from);
            if (in_row && from <= -row_.end) continue;
            other(a);
        }
        return gains;
    }

    bool is_element(E e) {
        return e->kind == ExprKind::Load && e->access == Access::Linear &&
               e->id == element_.array && nest_.form(e->args[0]) == element_.form;
    }

    /// Whether the expression reads nothing of the row from this element on, but for itself where
    /// that is allowed.
    bool is_known(E e, bool may_read_element) {
        if (is_copy(e)) return may_read_element;
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

    bool is_copy(E e) {
        return is_element(e) || (e->kind == ExprKind::Var &&
                                 std::find(copies_.begin(), copies_.end(), e->id) != copies_.end());
    }

    /// A statement in front of the inner loop: the element only takes part in the same operation.
    bool front(S s) {
        if (s->kind == StmtKind::Declare && !s->args.empty() && is_element(s->args[0])) {
            copies_.push_back(s->id);
            return true;
        }
        if (s->kind == StmtKind::Store) {
            E value = s->args.back();
            bool updates = s->id == element_.array && s->access == Access::Linear &&
                           !s->streaming && nest_.form(s->args[0]) == element_.form &&
                           value->kind == ExprKind::Binary && value->op == op();
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

    bool behind(S s) {
        if (s->kind == StmtKind::Store) {
            return s->id == element_.array && s->access == Access::Linear &&
                   nest_.form(s->args[0]) == element_.form && is_known(s->args.back(), true);
        }
        return simple(s, true) &&
               std::all_of(s->body.begin(), s->body.end(), [&](S b) { return behind(b); }) &&
               std::all_of(s->orelse.begin(), s->orelse.end(), [&](S b) { return behind(b); });
    }

    /// What computes with scalars, whatever its body does.
    bool simple(S s, bool may_read_element) {
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

    Builder& b_;
    const Row& row_;
    const ScalarFunctions& scalar_;
    LoopNest nest_;
    std::vector<bool> written_;
    NestAccess element_{};
    std::vector<std::int32_t> copies_;  ///< variables that hold the element
    std::vector<NestAccess> others_;
    bool stores_in_front_ = false;
};

class UpdatesInStrips final : public Rewriter {
  public:
    UpdatesInStrips(Function& f, const ScalarFunctions& scalar) : Rewriter(f), scalar_(scalar) {}

    S stmt(S s) override {
        S changed = children(s);
        Row row;
        if (!is_plain_loop(changed) || !find(changed, row)) return changed;
        S strips = in_strips(row);
        return strips ? strips : changed;
    }

  private:
    bool find(S outer, Row& row) {
        row.outer = outer;
        std::vector<S> all;
        flatten(outer->body, all);
        auto is_loop = [](S s) { return s->kind == StmtKind::For; };
        auto inner = std::find_if(all.begin(), all.end(), is_loop);
        if (inner == all.end() || !is_plain_loop(*inner) || (*inner)->any_order) return false;
        row.inner = *inner;
        row.before.assign(all.begin(), inner);
        row.after.assign(std::next(inner), all.end());
        std::vector<S> body;
        flatten(row.inner->body, body);
        if (body.size() != 1 || body[0]->kind != StmtKind::Store ||
            body[0]->access != Access::Linear || body[0]->streaming) {
            return false;
        }
        row.store = body[0];
        E value = row.store->args[1];
        if (value->kind != ExprKind::Binary || is_complex(value->dtype) ||
            value->dtype == DType::Bool) {
            return false;
        }
        auto is_element = [&](E e) {
            return e->kind == ExprKind::Load && e->access == Access::Linear &&
                   e->id == row.store->id && same(e->args[0], row.store->args[0]);
        };
        row.is_first = is_element(value->args[0]);
        row.term = value->args[row.is_first ? 1 : 0];
        return row.is_first || is_element(value->args[1]);
    }

    S in_strips(Row& row) {
        b_.line = row.outer->line;
        E begin = row.outer->args[0];
        E end = row.outer->args[1];
        // Accesses are told apart for all that the inner loop reaches in any iteration.
        S probe = b_.loop(LoopKind::Serial, row.inner->id, begin, end, b_.i64(1), b_.block({}));
        Ahead known(b_, row, probe, scalar_);
        row.low = known.nest().in_front(row.inner->args[0]);
        auto high = known.nest().form(row.inner->args[1]);
        if (!row.low || !high || high->inner || !is_literal(high->outer, 1)) return nullptr;
        if (high->rest && (!is_constant(high->rest, row.end) || !is_small(row.end))) return nullptr;
        E highest = simplified(b_, b_.add(end, b_.i64(row.end - 1)));
        S widest =
            b_.loop(LoopKind::Serial, row.inner->id, row.low, highest, b_.i64(1), b_.block({}));
        E test = Ahead(b_, row, widest, scalar_).test();
        if (!test) return nullptr;

        lanes_ = strip_bytes / size_of(row.store->args[1]->dtype);
        E count = simplified(b_, b_.sub(end, begin));
        test = simplified(b_, b_.binary(Op::And, b_.binary(Op::Ge, count, b_.i64(lanes_)), test));
        std::int64_t bits = 0;
        while ((std::int64_t{1} << bits) < lanes_) ++bits;
        std::int32_t next = b_.var("next", DType::Int64);
        std::int32_t strip = b_.var("strip", DType::Int64);
        std::int32_t at = b_.var("at", DType::Int64);
        E strips = b_.binary(Op::Shr, count, b_.i64(bits));
        std::vector<S> body{
            b_.declare(at, simplified(b_, b_.add(begin, b_.mul(b_.read(strip), b_.i64(lanes_)))))};
        lanes(row, b_.read(at), body);
        body.push_back(one_by_one(row, b_.read(at)));
        S fast = b_.loop(LoopKind::Serial, strip, b_.i64(0), strips, b_.i64(1), as_one(b_, body));
        S on = b_.assign(next, b_.add(begin, b_.binary(Op::Shl, strips, b_.i64(bits))));
        S rest = b_.loop(LoopKind::Serial, row.outer->id, b_.read(next), end, b_.i64(1),
                         as_one(b_, row.outer->body));
        return b_.block({b_.declare(next, begin), b_.branch(test, b_.block({fast, on})), rest});
    }

    /// The terms that all lanes from `at` on may take.
    void lanes(const Row& row, E at, std::vector<S>& body) {
        std::int32_t held = b_.local_array("held", row.store->args[1]->dtype, 1, Space::Private);
        E length = b_.i64(lanes_);
        body.push_back(b_.allocate(held, std::span<const E>(&length, 1)));
        auto each = [&](auto write) {
            std::int32_t lane = b_.var("lane", DType::Int64);
            E number = b_.read(lane);
            Put put(function(), row.outer->id, simplified(b_, b_.add(at, number)));
            return b_.loop(LoopKind::Vector, lane, b_.i64(0), length, b_.i64(1),
                           write(put, number));
        };
        std::int32_t array = row.store->id;
        body.push_back(each([&](Put& put, E number) {
            return store(held, number, load(array, put.expr(row.store->args[0])));
        }));
        S terms = each([&](Put& put, E number) {
            return store(held, number, combined(row, load(held, number), put.expr(row.term)));
        });
        body.push_back(
            b_.loop(LoopKind::Serial, row.inner->id, row.low, ahead(row, at), b_.i64(1), terms));
        body.push_back(each([&](Put& put, E number) {
            return store(array, put.expr(row.store->args[0]), load(held, number));
        }));
    }

    /// The elements of a strip, with the terms that are left.
    S one_by_one(const Row& row, E at) {
        std::vector<S> body = row.before;
        E index = row.store->args[0];
        std::int32_t held = b_.var("held", row.store->args[1]->dtype);
        body.push_back(b_.declare(held, load(row.store->id, index)));
        S update = b_.assign(held, combined(row, b_.read(held), row.term));
        E from = b_.binary(Op::Max, row.low, ahead(row, at));
        body.push_back(
            b_.loop(LoopKind::Serial, row.inner->id, from, row.inner->args[1], b_.i64(1), update));
        body.push_back(store(row.store->id, index, b_.read(held)));
        body.insert(body.end(), row.after.begin(), row.after.end());
        E end = simplified(b_, b_.add(at, b_.i64(lanes_)));
        return b_.loop(LoopKind::Serial, row.outer->id, at, end, b_.i64(1), as_one(b_, body));
    }

    E ahead(const Row& row, E at) { return simplified(b_, b_.add(at, b_.i64(row.end))); }
    E combined(const Row& row, E element, E term) {
        Op op = row.store->args[1]->op;
        return row.is_first ? b_.binary(op, element, term) : b_.binary(op, term, element);
    }
    E load(std::int32_t array, E at) {
        return b_.load(array, std::span<const E>(&at, 1), Access::Linear);
    }
    S store(std::int32_t array, E at, E value) {
        return b_.store(array, std::span<const E>(&at, 1), value, Access::Linear);
    }

    const ScalarFunctions& scalar_;
    std::int64_t lanes_ = 0;
};

}  // namespace

void updates_in_strips(Module& module) {
    const ScalarFunctions scalar(module);
    for (Function& f : module.functions) UpdatesInStrips(f, scalar).run();
}

}  // namespace unisono::passes
