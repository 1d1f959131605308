// Barriers and fences. Both are statements of kind Barrier: at a barrier, of axis 0, all work-items
// of the group wait; a fence, of axis 1, lets nobody wait: accesses to memory before it come before
// those behind it, as all work-items see them. It may stand anywhere. A barrier of axis 3 is one of
// a kernel whose launches are one group, however large.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

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

/// How work-items come to a barrier that tells (see `counted`), by the value of its operand.
enum class Arrival : std::uint8_t {
    Elsewhere,  ///< goes past it, to other statements
    Ended,      ///< has nothing left to do
    Reached,
};

/// The barrier with an operand, a variable of Arrival, and the fault that is raised where some
/// work-items of the group reach it and others do not: its values are how many reach it, have
/// ended, are elsewhere, and are in the group. The host alone tests it.
inline Stmt counted(const Stmt& barrier, std::span<const E> arrival, std::int32_t site) {
    Stmt made = barrier;
    made.args = arrival;
    made.fault = site;
    return made;
}
inline bool is_counted(S s) { return is_barrier(s) && !s->args.empty(); }

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
