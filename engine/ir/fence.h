// Barriers and fences. Both are statements of kind Barrier: at a barrier, of axis 0, all work-items
// of the group wait; a fence, of axis 1, lets nobody wait: accesses to memory before it come before
// those behind it, as all work-items see them. It may stand anywhere.
#pragma once

#include <algorithm>

#include "ir/ir.h"

namespace unisono::ir {

inline bool is_fence(S s) { return s->kind == StmtKind::Barrier && s->axis == 1; }
inline bool is_barrier(S s) { return s->kind == StmtKind::Barrier && s->axis == 0; }

/// A fence of a barrier that was built.
inline Stmt fence_of(const Stmt& barrier) {
    Stmt made = barrier;
    made.axis = 1;
    return made;
}

/// Whether s is a barrier or holds one.
inline bool has_barrier(S s) {
    return is_barrier(s) || std::any_of(s->body.begin(), s->body.end(), has_barrier) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), has_barrier);
}

}  // namespace unisono::ir
