// Finds the loops, and writes eight steps as one.
#include "passes/loops/unroll_and_jam.h"

#include <algorithm>

#include "passes/analysis/linear_forms.h"
#include "passes/analysis/nests.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::int64_t step_bits = 3;
constexpr std::int64_t steps = std::int64_t{1} << step_bits;

/// An independent loop that stores to an element per iteration, in a serial loop.
struct Updates {
    S outer = nullptr, inner = nullptr, store = nullptr;
    std::vector<S> before;    ///< declarations in the outer loop
    std::vector<E> faults;    ///< conditions of what raises
    std::vector<E> branches;  ///< conditions under which the inner loop runs
};

bool find_inner(std::span<const S> body, Updates& found) {
    std::vector<S> all;
    flatten(body, all);
    if (all.empty()) return false;
    for (S s : std::span(all).first(all.size() - 1)) {
        if (s->kind == StmtKind::Declare && !s->args.empty()) {
            found.before.push_back(s);
        } else if (only_raises(s)) {
            found.faults.push_back(s->args[0]);
        } else {
            return false;
        }
    }
    S last = all.back();
    if (last->kind == StmtKind::If) {
        found.branches.push_back(last->args[0]);
        return find_inner(last->body, found);
    }
    bool is_independent = last->kind == StmtKind::For && last->reductions.empty() &&
                          (last->loop == LoopKind::Parallel || last->loop == LoopKind::Vector);
    std::vector<S> inside;
    if (is_independent) flatten(last->body, inside);
    if (inside.size() != 1 || inside[0]->kind != StmtKind::Store ||
        inside[0]->access != Access::Linear || inside[0]->streaming) {
        return false;
    }
    found.inner = last;
    found.store = inside[0];
    std::int64_t step = 0;
    return is_constant(last->args[2], step) && step == 1;
}

/// Reads of variables, and the element that is held, replaced.
class Step final : public Rewriter {
  public:
    Step(Function& f, LoopNest& nest, S store, E held)
        : Rewriter(f), nest_(nest), store_(store), held_(held) {}
    std::unordered_map<std::int32_t, E> by;

    E expr(E e) override {
        if (e->kind == ExprKind::Var) {
            auto found = by.find(e->id);
            if (found != by.end()) return found->second;
        }
        bool is_same = e->kind == ExprKind::Load && e->id == store_->id &&
                       nest_.form(e->args[0]) == nest_.form(store_->args[0]);
        return is_same ? held_ : children(e);
    }

  private:
    LoopNest& nest_;
    S store_;
    E held_;
};

class StepsTogether final : public Rewriter {
  public:
    using Rewriter::Rewriter;

    S stmt(S s) override {
        S changed = children(s);
        Updates found;
        found.outer = changed;
        if (!is_plain_loop(changed) || !find_inner(changed->body, found)) return changed;
        S together = write(found);
        return together ? together : changed;
    }

  private:
    S write(const Updates& u) {
        DType t = function().arrays[static_cast<std::size_t>(u.store->id)].dtype;
        if (is_complex(t)) return nullptr;
        b_.line = u.outer->line;
        LoopNest nest(b_, u.outer, u.inner);
        for (S d : u.before) nest.define(d->id, d->args[0]);
        E low = nest.in_front(u.inner->args[0]);
        E high = nest.in_front(u.inner->args[1]);
        E test = low && high ? condition(u, nest) : nullptr;
        if (!test) return nullptr;
        E begin = u.outer->args[0];
        E end = u.outer->args[1];
        E count = simplified(b_, b_.sub(end, begin));
        test = b_.binary(Op::And, b_.binary(Op::Ge, count, b_.i64(steps)), test);

        std::int32_t round = b_.var("round", DType::Int64);
        std::int32_t at = b_.var("at", DType::Int64);
        std::int32_t held = b_.var("held", t);
        std::vector<S> body{
            b_.declare(at, simplified(b_, b_.add(begin, b_.mul(b_.read(round), b_.i64(steps)))))};
        E where = place(nest, u);
        std::vector<S> inside{
            b_.declare(held, b_.load(u.store->id, std::span<const E>(&where, 1), Access::Linear))};
        for (std::int64_t k = 0; k < steps; ++k) {
            Step step(function(), nest, u.store, b_.read(held));
            step.by[u.outer->id] = simplified(b_, b_.add(b_.read(at), b_.i64(k)));
            for (S d : u.before) {
                const Var known = function().vars[static_cast<std::size_t>(d->id)];
                std::int32_t own = b_.var(known.name, known.dtype);
                body.push_back(b_.declare(own, step.expr(d->args[0])));
                step.by[d->id] = b_.read(own);
            }
            inside.push_back(b_.assign(held, step.expr(u.store->args[1])));
        }
        inside.push_back(
            b_.store(u.store->id, std::span<const E>(&where, 1), b_.read(held), Access::Linear));
        body.push_back(
            b_.loop(u.inner->loop, u.inner->id, low, high, b_.i64(1), as_one(b_, inside)));
        E rounds = b_.binary(Op::Shr, count, b_.i64(step_bits));
        S fast = b_.loop(LoopKind::Serial, round, b_.i64(0), rounds, b_.i64(1), as_one(b_, body));
        std::int32_t next = b_.var("next", DType::Int64);
        S on = b_.assign(next, b_.add(begin, b_.binary(Op::Shl, rounds, b_.i64(step_bits))));
        S rest = b_.loop(LoopKind::Serial, u.outer->id, b_.read(next), end, b_.i64(1),
                         as_one(b_, u.outer->body));
        S branch = b_.branch(simplified(b_, test), b_.block({fast, on}));
        return b_.block({b_.declare(next, begin), branch, rest});
    }

    /// The place of an element in an iteration of the inner loop, whatever the step.
    E place(LoopNest& nest, const Updates& u) {
        auto form = nest.form(u.store->args[0]);
        E count = b_.read(u.inner->id);
        E along = simplified(b_, b_.mul(count, form->inner));
        return form->rest ? simplified(b_, b_.add(form->rest, along)) : along;
    }

    /// What must hold, or null.
    E condition(const Updates& u, LoopNest& nest) {
        std::vector<NestAccess> all;
        if (!nest.loads(u.store->args[1], all)) return nullptr;
        NestAccess element{u.store->id, true, nest.form(u.store->args[0])};
        std::int64_t literal = 0;
        if (!element.form || element.form->outer || !element.form->inner ||
            !is_constant(element.form->inner, literal) || literal == 0) {
            return nullptr;
        }
        bool is_update = false;
        bool gains = false;
        std::vector<NestAccess> others;
        for (const NestAccess& a : all) {
            if (!a.form) return nullptr;
            if (a.array == element.array && *a.form == *element.form) {
                is_update = true;
                continue;
            }
            others.push_back(a);
            bool in_row = a.form->outer && is_constant(a.form->outer, literal) && literal == 1;
            gains = gains || (in_row && a.form->inner && !is_constant(a.form->inner, literal));
        }
        if (!is_update || !gains) return nullptr;
        for (S d : u.before) {
            if (!nest.loads(d->args[0], others)) return nullptr;
        }
        E test = nest.apart_from(element, others);
        for (E fault : u.faults) {
            E never = test ? nest.never(fault) : nullptr;
            if (!never) return nullptr;
            test = b_.binary(Op::And, test, never);
        }
        for (E assumed : nest.assumed()) {
            if (test) test = b_.binary(Op::And, test, assumed);
        }
        for (E branch : u.branches) {
            E known = test ? nest.in_front(branch) : nullptr;
            if (!known) return nullptr;
            test = b_.binary(Op::And, test, known);
        }
        return test;
    }
};

}  // namespace

void unroll_and_jam(Module& module) {
    for (Function& f : module.functions) StepsTogether(f).run();
}

}  // namespace unisono::passes
