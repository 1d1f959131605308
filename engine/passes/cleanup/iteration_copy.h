// A copy of one iteration of a loop, in the loop's own function.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ir/rewrite.h"

namespace unisono::passes {

/// Nodes of the tree, each as often as it is evaluated.
inline std::int64_t count_nodes(ir::E e) {
    std::int64_t n = 1;
    for (ir::E a : e->args) n += count_nodes(a);
    return n;
}

/// One iteration: the loop's variable has a value, variables declared in the body are others.
class IterationCopy final : public ir::Rewriter {
  public:
    IterationCopy(ir::Function& f, std::int32_t var, ir::E value)
        : Rewriter(f), var_(var), value_(value) {}

    ir::E expr(ir::E e) override {
        if (e->kind != ir::ExprKind::Var) return children(e);
        if (e->id == var_) return value_;
        auto found = own_.find(e->id);
        return found == own_.end() ? e : b_.read(found->second);
    }

    ir::S stmt(ir::S s) override {
        b_.line = s->line;
        if (s->kind == ir::StmtKind::Declare) {
            const ir::Var known = function().vars[static_cast<std::size_t>(s->id)];
            own_[s->id] = b_.var(known.name, known.dtype);
        }
        ir::S changed = children(s);
        ir::Stmt mine = *changed;
        if (s->kind == ir::StmtKind::Declare || s->kind == ir::StmtKind::Assign)
            mine.id = name(s->id);
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
    ir::E value_;
    std::unordered_map<std::int32_t, std::int32_t> own_;
};

}  // namespace unisono::passes
