// Finds where conditions change, and writes the three loops.
#include "passes/loops/index_set_splitting.h"

#include <algorithm>
#include <optional>

#include "passes/analysis/linear_forms.h"
#include "passes/cleanup/iteration_copy.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::int64_t most_iterations = 4;  ///< at each end
constexpr std::int64_t most_nodes = 256;     ///< of a body, of which three copies are made

/// Whether a loop may run in parts: one after the other they do what it does.
bool may_split(S s) {
    std::int64_t step = 0;
    return s->kind == StmtKind::For &&
           (s->loop == LoopKind::Serial || s->loop == LoopKind::Vector) && s->reductions.empty() &&
           !s->numbers && !s->any_order && is_constant(s->args[2], step) && step == 1;
}

/// Nodes of a body that may be copied, else more than the most.
std::int64_t nodes(S s) {
    switch (s->kind) {
        case StmtKind::Block:
        case StmtKind::Declare:
        case StmtKind::Assign:
        case StmtKind::Store:
        case StmtKind::If:
        case StmtKind::Continue: break;
        case StmtKind::Return:
            if (s->fault >= 0) break;
            return most_nodes + 1;
        default: return most_nodes + 1;
    }
    std::int64_t n = 1;
    for (E e : s->args) n += count_nodes(e);
    for (auto list : {s->body, s->orelse}) {
        for (S b : list) n += nodes(b);
    }
    return n;
}

/// A comparison with the loop's variable, or a minimum or maximum with it: what it gives at and
/// behind an iteration, and before it.
struct Change {
    E at;
    E before, behind;
};

/// What is known of a loop's iterations.
class Iterations {
  public:
    Iterations(Builder& b, S loop) : b_(b), loop_(loop), written_(b.function().vars.size()) {
        mark_written(loop, written_);
    }

    bool is_invariant(E e) const {
        if (e->kind == ExprKind::Var) return !written_[static_cast<std::size_t>(e->id)];
        return e->kind != ExprKind::Load && e->kind != ExprKind::WorkItem &&
               e->kind != ExprKind::Memory &&
               std::all_of(e->args.begin(), e->args.end(), [&](E a) { return is_invariant(a); });
    }

    /// Where the expression changes, in the order of the iterations; empty for what does not or is
    /// not understood.
    std::vector<Change> changes(E e) {
        if (e->kind != ExprKind::Binary || e->args[0]->dtype != DType::Int64) return {};
        E x = e->args[0], y = e->args[1];
        Op op = e->op;
        auto offset = from_iteration(x);
        if (!offset) {
            offset = from_iteration(y);
            std::swap(x, y);
            op = mirrored(op);
        }
        if (!offset || !is_invariant(y)) return {};
        const E at = simplified(b_, b_.sub(y, b_.i64(*offset)));  // where x is y
        const E next = simplified(b_, b_.add(at, b_.i64(1)));
        const E yes = b_.boolean(true), no = b_.boolean(false);
        switch (op) {
            case Op::Lt: return {{at, yes, no}};
            case Op::Le: return {{next, yes, no}};
            case Op::Gt: return {{next, no, yes}};
            case Op::Ge: return {{at, no, yes}};
            case Op::Eq: return {{at, no, nullptr}, {next, nullptr, no}};
            case Op::Ne: return {{at, yes, nullptr}, {next, nullptr, yes}};
            case Op::Min: return {{at, x, y}};
            case Op::Max: return {{at, y, x}};
            default: return {};
        }
    }

    /// Iterations from the loop's begin to a place, and from there to its end.
    std::optional<std::int64_t> from_begin(E at) const { return distance(at, loop_->args[0]); }
    std::optional<std::int64_t> to_end(E at) const { return distance(loop_->args[1], at); }

  private:
    std::optional<std::int64_t> distance(E to, E from) const {
        std::int64_t n = 0;
        if (!is_invariant(to) || !is_invariant(from) || !constant_difference(to, from, n))
            return std::nullopt;
        return n;
    }

    /// The number of a sum of the loop's variable and a number.
    std::optional<std::int64_t> from_iteration(E e) const {
        std::int64_t offset = 0, number = 0;
        while (e->kind == ExprKind::Binary && (e->op == Op::Add || e->op == Op::Sub) &&
               is_constant(e->args[1], number) && is_small(number) && is_small(offset)) {
            offset += e->op == Op::Add ? number : -number;
            e = e->args[0];
        }
        if (e->kind != ExprKind::Var || e->id != loop_->id || !is_small(offset))
            return std::nullopt;
        return offset;
    }

    static Op mirrored(Op op) {
        switch (op) {
            case Op::Lt: return Op::Gt;
            case Op::Le: return Op::Ge;
            case Op::Gt: return Op::Lt;
            case Op::Ge: return Op::Le;
            default: return op;
        }
    }

    Builder& b_;
    S loop_;
    std::vector<bool> written_;
};

/// How many iterations at the ends differ from all others.
class Ends final : public Visitor {
  public:
    explicit Ends(Iterations& loop) : loop_(loop) {}
    std::int64_t front = 0, back = 0;

    void expr(E e) override {
        for (const Change& c : loop_.changes(e)) {
            if (auto n = loop_.from_begin(c.at); n && *n <= most_iterations)
                front = std::max(front, *n);
            else if (auto left = loop_.to_end(c.at); left && *left <= most_iterations)
                back = std::max(back, *left);
        }
        children(e);
    }

  private:
    Iterations& loop_;
};

/// The body of the iterations between the ends.
class Between final : public Rewriter {
  public:
    Between(Function& f, Iterations& loop, const Ends& ends)
        : Rewriter(f), loop_(loop), ends_(ends) {}

    E expr(E e) override {
        for (const Change& c : loop_.changes(e)) {
            if (auto n = loop_.from_begin(c.at); n && *n <= ends_.front && c.behind)
                return c.behind;
            if (auto left = loop_.to_end(c.at); left && *left <= ends_.back && c.before)
                return c.before;
        }
        return children(e);
    }

  private:
    Iterations& loop_;
    const Ends& ends_;
};

class SplitIndexSets final : public Rewriter {
  public:
    using Rewriter::Rewriter;
    bool changed = false;

    S stmt(S s) override {
        if (s->body.empty() && s->orelse.empty()) return s;
        const std::vector<S> then = each(s->body);
        S now = with_body(s, then, each(s->orelse));
        return may_split(now) ? split(now) : now;
    }

  private:
    S split(S s) {
        std::int64_t size = 0;
        for (S b : s->body) size += nodes(b);
        if (size > most_nodes) return s;
        b_.line = s->line;
        Iterations loop(b_, s);
        Ends ends(loop);
        for (S b : s->body) ends.stmt(b);
        if (ends.front == 0 && ends.back == 0) return s;
        changed = true;
        std::vector<S> parts;
        E begin = named("begin", s->args[0], parts), end = named("end", s->args[1], parts);
        const E none_before = begin;
        if (ends.front > 0) {
            begin =
                named("from", b_.binary(Op::Min, b_.add(begin, b_.i64(ends.front)), end), parts);
            parts.push_back(part(s, LoopKind::Unroll, none_before, begin, s->body));
        }
        E last = end;
        if (ends.back > 0)
            last = named("to", b_.binary(Op::Max, b_.sub(end, b_.i64(ends.back)), begin), parts);
        Between between(function(), loop, ends);
        std::vector<S> body;
        for (S b : s->body) body.push_back(between.stmt(b));
        parts.push_back(part(s, s->loop, begin, last, body));
        if (ends.back > 0) parts.push_back(part(s, LoopKind::Unroll, last, end, s->body));
        return b_.block(std::span<const S>(parts));
    }

    S part(S s, LoopKind kind, E begin, E end, std::span<const S> body) {
        const E args[] = {begin, end, s->args[2]};
        Stmt made = *with_body(with_args(s, args), body, {});
        made.loop = kind;
        return b_.own(made);
    }

    E named(const char* name, E e, std::vector<S>& out) {
        if (e->kind == ExprKind::Const || e->kind == ExprKind::Param) return e;
        const std::int32_t v = b_.var(name, DType::Int64);
        out.push_back(b_.declare(v, simplified(b_, e)));
        return b_.read(v);
    }
};

}  // namespace

bool index_set_splitting(Module& module) {
    bool changed = false;
    for (Function& f : module.functions) {
        if (!f.body) continue;
        SplitIndexSets pass(f);
        pass.run();
        changed = changed || pass.changed;
    }
    return changed;
}

}  // namespace unisono::passes
