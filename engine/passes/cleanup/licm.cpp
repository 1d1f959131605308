// Takes the largest expressions of loads that a loop does not change out of it.
#include "passes/cleanup/licm.h"

#include <algorithm>
#include <unordered_map>

#include "passes/analysis/column_sums.h"
#include "passes/cleanup/replace_reads.h"

namespace unisono::passes {

using namespace ir;

namespace {

/// A loop of independent iterations, each of which computes numbers and ends with a store.
bool is_elementwise(S s, std::vector<S>& body) {
    if (s->kind != StmtKind::For || s->loop != LoopKind::Vector || !is_one(s->args[2]) ||
        !s->reductions.empty())
        return false;
    flatten(s->body, body);
    if (body.empty() || body.back()->kind != StmtKind::Store) return false;
    return std::all_of(body.begin(), body.end() - 1, [](S t) {
        return t->kind == StmtKind::Declare || t->kind == StmtKind::Assign;
    });
}

class SharedLoads final : public Rewriter {
  public:
    using Rewriter::Rewriter;

    /// Within a loop that is being rewritten: hoists invariant expressions out of it.
    E expr(E e) override {
        if (!is_inside_ || !has_load(e)) return e;
        if (!is_shared(e)) return children(e);
        for (const auto& [known, var] : taken_) {
            if (same(known, e)) return b_.read(var);
        }
        const std::int32_t var = b_.var("shared", e->dtype);
        b_.line = e->line;
        front_.push_back(b_.declare(var, e));
        taken_.emplace_back(e, var);
        return b_.read(var);
    }

    S stmt(S s) override {
        std::vector<S> body;
        if (!is_elementwise(s, body)) {
            if (s->body.empty() && s->orelse.empty()) return s;
            const std::vector<S> then = each(s->body);
            return with_body(s, then, each(s->orelse));
        }
        changed_.assign(function().vars.size(), false);
        mark_written(s, changed_);
        taken_.clear();
        front_.clear();
        is_inside_ = true;
        for (S& t : body) {
            std::vector<E> args(t->args.begin(), t->args.end());
            for (E& e : args) e = expr(e);
            t = with_args(t, args);
        }
        is_inside_ = false;
        if (front_.empty()) return s;
        b_.line = s->line;
        std::vector<S> list = front_;
        list.push_back(with_body(s, body, s->orelse));
        // A loop without iterations reads nothing.
        return b_.branch(b_.binary(Op::Lt, s->args[0], s->args[1]), b_.block(list));
    }

  private:
    bool is_shared(E e) const {
        if (e->kind == ExprKind::Var) {
            const auto v = static_cast<std::size_t>(e->id);
            return v < changed_.size() && !changed_[v];
        }
        if (e->kind == ExprKind::Load && e->access != Access::Linear) return false;
        return e->kind != ExprKind::WorkItem &&
               std::all_of(e->args.begin(), e->args.end(), [&](E a) { return is_shared(a); });
    }

    bool is_inside_ = false;
    std::vector<bool> changed_;  // variables that the loop sets
    std::vector<std::pair<E, std::int32_t>> taken_;
    std::vector<S> front_;
};

}  // namespace

void licm(Module& module) {
    for (Function& f : module.functions) {
        if (f.body) SharedLoads(f).run();
    }
}

}  // namespace unisono::passes
