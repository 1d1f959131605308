// Barriers and fences. Both are statements of kind Barrier: at a barrier, of axis 0, all work-items
// of the group wait; a fence, of axis 1, lets nobody wait: accesses to memory before it come before
// those behind it, as all work-items see them. It may stand anywhere. A barrier of axis 3 is one of
// a kernel whose launches are one group, however large.
#pragma once

#include <algorithm>

#include "ir/ir.h"

namespace unisono::ir {

inline bool is_fence(S s) { return s->kind == StmtKind::Barrier && s->axis == 1; }
inline constexpr std::int32_t grid_axis = 3;
inline bool is_grid_barrier(S s) { return s->kind == StmtKind::Barrier && s->axis == grid_axis; }
inline bool is_barrier(S s) {
    return (s->kind == StmtKind::Barrier && s->axis == 0) || is_grid_barrier(s);
}

/// A fence of a barrier that was built.
inline Stmt fence_of(const Stmt& barrier) {
    Stmt made = barrier;
    made.axis = 1;
    return made;
}

/// A barrier of the grid, of a barrier that was built.
inline Stmt grid_barrier_of(const Stmt& barrier) {
    Stmt made = barrier;
    made.axis = grid_axis;
    return made;
}

/// Whether s is a barrier or holds one.
inline bool has_barrier(S s) {
    return is_barrier(s) || std::any_of(s->body.begin(), s->body.end(), has_barrier) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), has_barrier);
}

inline bool has_grid_barrier(S s) {
    return is_grid_barrier(s) || std::any_of(s->body.begin(), s->body.end(), has_grid_barrier) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), has_grid_barrier);
}

}  // namespace unisono::ir
