// Loops that do nothing but move neighbouring elements past the caches, from an array of the
// work-item (passes/kernels/stage_streams.h makes them).
#pragma once

#include "ir/ir.h"

namespace unisono::ir {

/// The store of such a loop; null of another statement.
inline S streaming_copy(S s) {
    if (s->kind != StmtKind::For || s->body.size() != 1) return nullptr;
    const S store = s->body.front();
    const bool moves = store->kind == StmtKind::Store && store->streaming &&
                       store->args.back()->kind == ExprKind::Load;
    return moves ? store : nullptr;
}

}  // namespace unisono::ir
