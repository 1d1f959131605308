// Writes the rows that row_updates.h finds.
#include "passes/loops/updates_in_strips.h"

#include "passes/cleanup/simplify.h"
#include "passes/loops/row_updates.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::int64_t strip_bytes = 32;  // longer strips leave more to do one by one

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

/// Reads and stores of the element of a row become those of a variable.
class Hold final : public Rewriter {
  public:
    Hold(Function& f, Ahead& ahead, std::int32_t held) : Rewriter(f), ahead_(ahead), held_(held) {}
    E expr(E e) override {
        return e->kind == ExprKind::Load && ahead_.is_element(e->id, e->args[0]) ? b_.read(held_)
                                                                                 : children(e);
    }
    S stmt(S s) override {
        S changed = children(s);
        if (s->kind != StmtKind::Store) return changed;
        b_.line = s->line;
        return b_.assign(held_, changed->args.back());
    }

  private:
    Ahead& ahead_;
    std::int32_t held_;
};

class UpdatesInStrips final : public Rewriter {
  public:
    UpdatesInStrips(Function& f, const ScalarFunctions& scalar) : Rewriter(f), scalar_(scalar) {}

    S stmt(S s) override {
        S changed = children(s);
        auto row = find_row(changed);
        S strips = row ? in_strips(*row) : nullptr;
        return strips ? strips : changed;
    }

  private:
    S in_strips(Row& row) {
        b_.line = row.outer->line;
        E begin = row.outer->args[0];
        E end = row.outer->args[1];
        // Accesses are compared over all iterations of the inner loop.
        S probe = b_.loop(LoopKind::Serial, row.inner->id, begin, end, b_.i64(1), b_.block({}));
        Ahead known(b_, row, probe, scalar_);
        row.low = known.nest().in_front(row.inner->args[0]);
        auto high = known.nest().form(row.inner->args[1]);
        if (!row.low || !high || high->inner || !is_literal(high->outer, 1)) return nullptr;
        if (high->rest && (!is_constant(high->rest, row.end) || !is_small(row.end))) return nullptr;
        E highest = simplified(b_, b_.add(end, b_.i64(row.end - 1)));
        S widest =
            b_.loop(LoopKind::Serial, row.inner->id, row.low, highest, b_.i64(1), b_.block({}));
        Ahead ahead(b_, row, widest, scalar_);
        E test = ahead.test();
        if (!test) return nullptr;

        lanes_ = strip_bytes / size_of(row.store->args[1]->dtype);
        std::int64_t bits = 0;
        while ((std::int64_t{1} << bits) < lanes_) ++bits;
        std::int32_t strip = b_.var("strip", DType::Int64);
        std::int32_t at = b_.var("at", DType::Int64);
        std::int32_t stop = b_.var("stop", DType::Int64);
        std::int32_t from = b_.var("from", DType::Int64);
        E count = simplified(b_, b_.sub(end, begin));
        E strips = b_.binary(Op::Shr, b_.add(count, b_.i64(lanes_ - 1)), b_.i64(bits));
        E is_whole = b_.binary(Op::Eq, b_.sub(b_.read(stop), b_.read(at)), b_.i64(lanes_));
        std::vector<S> whole;
        lanes(row, b_.read(at), whole);
        whole.push_back(b_.assign(from, b_.binary(Op::Max, row.low, in_row(row, b_.read(at)))));
        S each = b_.block(
            {b_.declare(at, simplified(b_, b_.add(begin, b_.mul(b_.read(strip), b_.i64(lanes_))))),
             b_.declare(stop, b_.binary(Op::Min, end, b_.add(b_.read(at), b_.i64(lanes_)))),
             b_.declare(from, row.low), b_.branch(is_whole, as_one(b_, whole)),
             one_by_one(row, ahead, b_.read(from), b_.read(at), b_.read(stop))});
        S fast = b_.loop(LoopKind::Serial, strip, b_.i64(0), strips, b_.i64(1), each);
        return b_.branch(simplified(b_, test), fast, row.outer);
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
            b_.loop(LoopKind::Serial, row.inner->id, row.low, in_row(row, at), b_.i64(1), terms));
        body.push_back(each([&](Put& put, E number) {
            return store(array, put.expr(row.store->args[0]), load(held, number));
        }));
    }

    /// The elements of a strip, with the terms that are left, each held in a variable meanwhile.
    S one_by_one(const Row& row, Ahead& ahead, E from, E at, E stop) {
        std::int32_t held = b_.var("held", row.store->args[1]->dtype);
        Hold hold(function(), ahead, held);
        E index = row.store->args[0];
        std::vector<S> body{b_.declare(held, load(row.store->id, index))};
        auto add = [&](const std::vector<S>& list) {
            for (S s : list) body.push_back(hold.stmt(s));
        };
        // In any order, what waits for the element before comes last.
        if (!ahead.stores_in_front()) add(row.before);
        S update = b_.assign(held, combined(row, b_.read(held), row.term));
        E to = in_row(row, b_.read(row.outer->id));
        body.push_back(b_.loop(LoopKind::Serial, row.inner->id, from, to, b_.i64(1), update));
        if (ahead.stores_in_front()) add(row.before);
        add(row.after);
        body.push_back(store(row.store->id, index, b_.read(held)));
        return b_.loop(LoopKind::Serial, row.outer->id, at, stop, b_.i64(1), as_one(b_, body));
    }

    /// Where the inner loop of that element ends.
    E in_row(const Row& row, E element) { return simplified(b_, b_.add(element, b_.i64(row.end))); }
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
