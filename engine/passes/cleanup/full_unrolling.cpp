// Counts what copies would cost, and writes them with variables of their own.
#include "passes/cleanup/full_unrolling.h"

#include <algorithm>
#include <unordered_map>

#include "passes/analysis/linear_forms.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::int64_t most_iterations = 32;
constexpr std::int64_t most_nodes = 512;  ///< of all copies together

std::int64_t nodes(E e) {
    std::int64_t n = 1;
    for (E a : e->args) n += nodes(a);
    return n;
}

constexpr std::int64_t most_number = 1 << 20;  ///< whose differences are numbers, too

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
    for (E e : s->args) n += nodes(e);
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

/// One iteration: the loop's variable is a number, variables declared in the body are others.
class Copy final : public Rewriter {
  public:
    Copy(Function& f, std::int32_t var, std::int64_t value) : Rewriter(f), var_(var) {
        value_ = b_.i64(value);
    }

    E expr(E e) override {
        if (e->kind != ExprKind::Var) return children(e);
        if (e->id == var_) return value_;
        auto found = own_.find(e->id);
        return found == own_.end() ? e : b_.read(found->second);
    }

    S stmt(S s) override {
        b_.line = s->line;
        if (s->kind == StmtKind::Declare) {
            const Var known = function().vars[static_cast<std::size_t>(s->id)];
            own_[s->id] = b_.var(known.name, known.dtype);
        }
        S changed = children(s);
        Stmt mine = *changed;
        if (s->kind == StmtKind::Declare || s->kind == StmtKind::Assign) mine.id = name(s->id);
        std::vector<std::int32_t> outs(s->outs.begin(), s->outs.end());
        for (std::int32_t& v : outs) v = name(v);
        if (mine.id == s->id && std::equal(outs.begin(), outs.end(), s->outs.begin()))
            return changed;
        mine.outs = function().arena->copy(std::span<const std::int32_t>(outs));
        return b_.own(mine);
    }

  private:
    std::int32_t name(std::int32_t var) const {
        auto found = own_.find(var);
        return found == own_.end() ? var : found->second;
    }

    std::int32_t var_;
    E value_;
    std::unordered_map<std::int32_t, std::int32_t> own_;
};

class UnrollFew final : public Rewriter {
  public:
    UnrollFew(Function& f, bool is_called) : Rewriter(f), loops_(is_called ? 1 : 0) {}
    bool changed = false;

    S stmt(S s) override {
        const bool is_loop = s->kind == StmtKind::For || s->kind == StmtKind::While;
        if (is_loop) ++loops_;
        S now = children(s);
        if (is_loop) --loops_;
        if (loops_ == 0 || !is_plain_loop(now) || now->any_order) return now;
        std::int64_t begin = 0;
        std::int64_t end = 0;
        if (!is_constant(now->args[0], begin) || !is_constant(now->args[1], end)) return now;
        if (end <= begin || begin < -most_number || end > most_number) return now;
        if (end - begin > most_iterations) return now;
        std::int64_t size = 0;
        for (S b : now->body) size += nodes(b);
        if (size * (end - begin) > most_nodes) return now;
        Views views(function(), now);
        views.stmt(now);
        if (views.moves) return now;
        changed = true;
        std::vector<S> copies;
        for (std::int64_t i = begin; i < end; ++i) {
            Copy copy(function(), now->id, i);
            for (S b : now->body) copies.push_back(copy.stmt(b));
        }
        return as_one(b_, copies);
    }

  private:
    int loops_;  ///< around the statement
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
