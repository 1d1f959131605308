// Counts what variables are written by, then replaces reads in program order.
#include "passes/cleanup/copy_propagation.h"

#include <utility>

#include "passes/cleanup/simplify.h"

#include "ir/rewrite.h"

namespace unisono::passes {

using namespace ir;

namespace {

/// How often each variable gets a value.
class Writes final : public Visitor {
  public:
    explicit Writes(const Function& f) : of(f.vars.size()) {}
    std::vector<int> of;

    void stmt(S s) override {
        const bool sets = s->kind == StmtKind::Assign || s->kind == StmtKind::For ||
                          (s->kind == StmtKind::Declare && !s->args.empty());
        if (sets) ++at(s->id);
        for (std::int32_t v : s->outs) ++at(v);
        for (const Reduction& r : s->reductions) ++at(r.var);
        for (S b : s->body) stmt(b);
        for (S b : s->orelse) stmt(b);
    }

  private:
    int& at(std::int32_t var) { return of[static_cast<std::size_t>(var)]; }
};

class SettleNames final : public Rewriter {
  public:
    explicit SettleNames(Function& f) : Rewriter(f), writes_(f), value_(f.vars.size()) {
        writes_.stmt(f.body);
        scope_.assign(f.vars.size(), 0);
        is_read_.assign(f.vars.size(), false);
        is_fixed_.assign(f.vars.size(), false);
    }

    E expr(E e) override {
        if (e->kind == ExprKind::Var) {
            is_read_[index(e->id)] = true;
            return value_[index(e->id)] ? value_[index(e->id)] : e;
        }
        E now = children(e);
        if (now == e) return e;
        b_.line = e->line;
        return simplified(b_, now);
    }

    S stmt(S s) override {
        if (s->kind == StmtKind::Block) return children(s);
        std::vector<E> args(s->args.begin(), s->args.end());
        for (E& a : args) a = expr(a);
        s = with_args(s, args);
        if (s->kind == StmtKind::Declare) scope_[index(s->id)] = now_;
        if (sets_once(s)) {
            is_fixed_[index(s->id)] = true;
            if (s->kind != StmtKind::For && is_settled(args[0])) {
                value_[index(s->id)] = args[0];
                return nullptr;
            }
        }
        if (s->body.empty() && s->orelse.empty()) return s;
        auto inside = [&](std::span<const S> list) {
            const int outer = std::exchange(now_, ++scopes_);
            std::vector<S> all = each(list);
            now_ = outer;
            return all;
        };
        std::vector<S> body = inside(s->body);
        return with_body(s, body, inside(s->orelse));
    }

    /// What views read, too.
    void tables() {
        for (Array& a : function().arrays) {
            if (!a.is_view()) continue;
            if (a.offset) a.offset = expr(a.offset);
            for (E& e : a.extents) e = expr(e);
            for (E& e : a.view_strides) e = e ? expr(e) : e;
        }
    }
    bool is_gone(std::int32_t var) const { return value_[index(var)] != nullptr; }

  private:
    static std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }
    /// The variable has that value wherever it is read from here on.
    bool sets_once(S s) const {
        if (s->kind == StmtKind::For) return writes_.of[index(s->id)] == 1;
        const bool sets = s->kind == StmtKind::Declare || s->kind == StmtKind::Assign;
        return sets && !s->args.empty() && writes_.of[index(s->id)] == 1 &&
               scope_[index(s->id)] == now_ && !is_read_[index(s->id)];
    }
    bool is_settled(E e) const {
        return e->kind == ExprKind::Const || e->kind == ExprKind::Param ||
               (e->kind == ExprKind::Var && is_fixed_[index(e->id)]);
    }

    Writes writes_;
    std::vector<E> value_;       // per variable, where it is replaced
    std::vector<int> scope_;     // per variable: the list in which it is declared
    std::vector<bool> is_read_;  // per variable, so far
    std::vector<bool> is_fixed_;
    int now_ = 0, scopes_ = 0;
};

/// Declarations without a value of what is replaced.
class Drop final : public Rewriter {
  public:
    Drop(Function& f, const SettleNames& names) : Rewriter(f), names_(names) {}
    E expr(E e) override { return e; }
    S stmt(S s) override {
        if (s->kind == StmtKind::Declare && names_.is_gone(s->id)) return nullptr;
        return children(s);
    }

  private:
    const SettleNames& names_;
};

}  // namespace

void copy_propagation(Module& module) {
    for (Function& f : module.functions) {
        if (!f.body) continue;
        SettleNames names(f);
        names.run();
        names.tables();
        Drop(f, names).run();
    }
}

}  // namespace unisono::passes
