// Finds sums in any order and declares them as reductions.
#include "passes/lowering/parallel_sums.h"

#include <algorithm>

#include "ir/rewrite.h"

namespace unisono::passes {
using namespace ir;

namespace {

bool reads(E e, std::int32_t var) {
    return (e->kind == ExprKind::Var && e->id == var) ||
           std::any_of(e->args.begin(), e->args.end(), [&](E a) { return reads(a, var); });
}

bool is_tested(E e) {
    return (e->kind == ExprKind::Load &&
            (e->access == Access::Checked || e->access == Access::Wrapped)) ||
           std::any_of(e->args.begin(), e->args.end(), is_tested);
}

/// The variables that the loop's statements add to; none where they do something else.
std::vector<Reduction> sums_of(S loop) {
    std::vector<S> list;
    flatten(loop->body, list);
    std::vector<Reduction> sums;
    for (S s : list) {
        if (s->kind != StmtKind::Assign) return {};
        E e = s->args[0];
        const bool adds = e->kind == ExprKind::Binary && e->op == Op::Add &&
                          e->args[0]->kind == ExprKind::Var && e->args[0]->id == s->id;
        if (!adds || is_tested(e->args[1])) return {};
        sums.push_back({s->id, Op::Add});
    }
    for (S s : list) {
        for (const Reduction& sum : sums) {
            if (reads(s->args[0]->args[1], sum.var)) return {};
        }
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
        for (std::size_t j = 0; j < k; ++j) {
            if (sums[j].var == sums[k].var) return {};
        }
    }
    return sums;
}

class ParallelSums final : public Rewriter {
  public:
    using Rewriter::Rewriter;

    S stmt(S s) override {
        if (s->kind != StmtKind::For) return children(s);
        if (s->loop != LoopKind::Serial && s->loop != LoopKind::Unroll) return s;
        const bool is_by_one = s->args[2]->kind == ExprKind::Const && s->args[2]->bits == 1;
        if (!s->any_order || !is_by_one) return children(s);
        const std::vector<Reduction> sums = sums_of(s);
        if (sums.empty()) return children(s);
        Stmt changed = *s;
        changed.loop = LoopKind::Parallel;
        changed.any_order = false;
        changed.reductions = function().arena->copy(std::span<const Reduction>(sums));
        return b_.own(changed);
    }
};

}  // namespace

void parallel_sums(Module& module) {
    Function& entry = module.entry();
    if (!entry.is_kernel && entry.body) ParallelSums(entry).run();
}

}  // namespace unisono::passes
