// Expressions in which reads of variables mean something else.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/rewrite.h"

namespace unisono::passes {

/// Marks the variables that the expression reads.
inline void mark_read(ir::E e, std::vector<bool>& out) {
    if (e->kind == ir::ExprKind::Var) out[static_cast<std::size_t>(e->id)] = true;
    for (ir::E a : e->args) mark_read(a, out);
}

inline bool has_load(ir::E e) {
    return e->kind == ir::ExprKind::Load || std::any_of(e->args.begin(), e->args.end(), has_load);
}

/// Reads of variables replaced by expressions, and selections that are `settled` by their second.
class Replace final : public ir::Rewriter {
  public:
    Replace(ir::Function& f, const std::unordered_set<ir::E>& settled)
        : ir::Rewriter(f), settled_(settled) {}
    std::unordered_map<std::int32_t, ir::E> by;

    ir::E expr(ir::E e) override {
        if (settled_.contains(e)) return expr(e->args[2]);
        if (e->kind == ir::ExprKind::Var) {
            auto found = by.find(e->id);
            if (found != by.end()) return found->second;
        }
        return children(e);
    }

  private:
    const std::unordered_set<ir::E>& settled_;
};

}  // namespace unisono::passes
