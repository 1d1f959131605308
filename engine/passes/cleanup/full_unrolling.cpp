// Counts what copies would cost, and writes them with variables of their own.
#include "passes/cleanup/full_unrolling.h"

#include <algorithm>
#include <optional>

#include "passes/analysis/linear_forms.h"
#include "passes/cleanup/iteration_copy.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::int64_t most_iterations = 32;
constexpr std::int64_t most_nodes = 512;  ///< of all copies together

/// Nodes of a body that may be copied, else more than the most.
std::int64_t nodes(S s) {
    switch (s->kind) {
        case StmtKind::Block:
        case StmtKind::Declare:
        case StmtKind::Assign:
        case StmtKind::Store:
        case StmtKind::Atomic:
        case StmtKind::If:
        case StmtKind::Call: break;
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

/// Whether the loop accesses views that lie where its iteration says.
class Views final : public Visitor {
  public:
    Views(const Function& f, S loop) : f_(f), own_(f.vars.size()) { mark_written(loop, own_); }
    bool moves = false;

    void expr(E e) override {
        if (e->kind == ExprKind::Load) array(e->id);
        children(e);
    }
    void stmt(S s) override {
        if (s->kind == StmtKind::Store || s->kind == StmtKind::Atomic) array(s->id);
        for (std::int32_t a : s->arrays) array(a);
        children(s);
    }

  private:
    void array(std::int32_t id) {
        const Array& a = f_.arrays[static_cast<std::size_t>(id)];
        if (!a.is_view()) return;
        moves = moves || reads_own(a.offset);
        for (E e : a.extents) moves = moves || reads_own(e);
        for (E e : a.view_strides) moves = moves || reads_own(e);
    }
    bool reads_own(E e) const {
        if (!e) return false;
        if (e->kind == ExprKind::Var && own_[static_cast<std::size_t>(e->id)]) return true;
        return std::any_of(e->args.begin(), e->args.end(), [&](E a) { return reads_own(a); });
    }

    const Function& f_;
    std::vector<bool> own_;
};

/// Variables that have one value wherever they are read: declared once and never assigned, or of a
/// loop; and the values of the declared ones, in terms of such variables.
class Definitions final : public Visitor {
  public:
    explicit Definitions(const Function& f) : writes_(f.vars.size()), values_(f.vars.size()) {}

    void stmt(S s) override {
        if (s->kind == StmtKind::Declare || s->kind == StmtKind::Assign ||
            s->kind == StmtKind::For) {
            ++writes_[static_cast<std::size_t>(s->id)];
        }
        if (s->kind == StmtKind::Assign) ++writes_[static_cast<std::size_t>(s->id)];
        if (s->kind == StmtKind::Declare && !s->args.empty())
            values_[static_cast<std::size_t>(s->id)] = s->args[0];
        for (std::int32_t v : s->outs) writes_[static_cast<std::size_t>(v)] += 2;
        children(s);
    }

    /// A sum: what does not change where the expression is read, and a number beside it.
    struct Sum {
        E base = nullptr;  ///< null is zero
        std::int64_t number = 0;
    };
    std::optional<Sum> sum(E e, int depth = 0) const {
        std::int64_t number = 0;
        if (depth > most_definitions) return {};
        if (is_constant(e, number)) return small({nullptr, number});
        if (e->kind == ExprKind::Binary && (e->op == Op::Add || e->op == Op::Sub) &&
            is_constant(e->args[1], number)) {
            auto rest = sum(e->args[0], depth + 1);
            if (!rest || !is_small(number)) return {};
            return small({rest->base, rest->number + (e->op == Op::Add ? number : -number)});
        }
        if (e->kind == ExprKind::Var) {
            if (!is_settled(e)) return {};
            if (E value = values_[static_cast<std::size_t>(e->id)]) {
                if (auto found = sum(value, depth + 1)) return found;
            }
            return Sum{e, 0};
        }
        return is_settled(e) ? std::optional<Sum>({e, 0}) : std::nullopt;
    }

  private:
    static constexpr int most_definitions = 8;

    static std::optional<Sum> small(Sum s) {
        return is_small(s.number) ? std::optional<Sum>(s) : std::nullopt;
    }
    bool is_settled(E e) const {
        switch (e->kind) {
            case ExprKind::Const:
            case ExprKind::Param: return true;
            case ExprKind::Var: {
                const auto v = static_cast<std::size_t>(e->id);
                return v < writes_.size() && writes_[v] == 1;  // copies have variables of their own
            }
            case ExprKind::Unary:
            case ExprKind::Binary:
                return is_integer(e->dtype) && std::all_of(e->args.begin(), e->args.end(),
                                                           [&](E a) { return is_settled(a); });
            default: return false;
        }
    }

    std::vector<int> writes_;
    std::vector<E> values_;
};

class UnrollFew final : public Rewriter {
  public:
    UnrollFew(Function& f, bool is_called)
        : Rewriter(f), loops_(is_called ? 1 : 0), definitions_(f) {
        definitions_.stmt(f.body);
    }
    bool changed = false;

    S stmt(S s) override {
        const bool is_loop = s->kind == StmtKind::For || s->kind == StmtKind::While;
        if (is_loop) ++loops_;
        S now = children(s);
        if (is_loop) --loops_;
        if (is_loop && now->loop == LoopKind::Parallel) now = in_one_thread(now);
        if (loops_ == 0 || !is_plain_loop(now) || now->any_order) return now;
        const auto begin = definitions_.sum(now->args[0]);
        const auto end = definitions_.sum(now->args[1]);
        if (!begin || !end || !equal(begin->base, end->base)) return now;
        const std::int64_t count = end->number - begin->number;
        if (count <= 0 || count > most_iterations) return now;
        if (nodes_of_body(now) * count > most_nodes) return now;
        Views views(function(), now);
        views.stmt(now);
        if (views.moves) return now;
        changed = true;
        std::vector<S> copies;
        for (std::int64_t i = 0; i < count; ++i) {
            IterationCopy copy(function(), now->id, value(begin->base, begin->number + i));
            for (S b : now->body) copies.push_back(copy.stmt(b));
        }
        return as_one(b_, copies);
    }

  private:
    static bool equal(E a, E b) { return a == b || (a && b && same(a, b)); }
    static std::int64_t nodes_of_body(S s) {
        std::int64_t size = 0;
        for (S b : s->body) size += nodes(b);
        return size;
    }
    /// A parallel loop of so few and short iterations that no thread is worth its start; to be
    /// unrolled where a vector would hold more.
    S in_one_thread(S s) {
        constexpr std::int64_t most_to_unroll = 4, most = 64;
        std::int64_t begin = 0, end = 0, step = 0;
        const bool is_known = is_constant(s->args[0], begin) && is_constant(s->args[1], end) &&
                              is_constant(s->args[2], step) && step == 1;
        if (!is_known || end - begin > most || !s->reductions.empty() ||
            contains(s, StmtKind::Call) || nodes_of_body(s) > most_nodes)
            return s;
        changed = true;
        Stmt now = *s;
        const bool in_order = end - begin <= most_to_unroll || contains(s, StmtKind::Return);
        now.loop = in_order ? LoopKind::Serial : LoopKind::Vector;
        return b_.own(now);
    }
    E value(E base, std::int64_t number) {
        if (!base) return b_.i64(number);
        return number == 0 ? base : b_.add(base, b_.i64(number));
    }

    int loops_;  ///< around the statement
    Definitions definitions_;
};

}  // namespace

bool full_unrolling(Module& module) {
    bool changed = false;
    for (std::size_t k = 0; k < module.functions.size(); ++k) {
        Function& f = module.functions[k];
        if (!f.body) continue;
        UnrollFew unroll(f, k != 0);
        unroll.run();
        changed = changed || unroll.changed;
    }
    return changed;
}

}  // namespace unisono::passes
