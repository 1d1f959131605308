// What the work-items of a warp do together, statements of kind Barrier: shuffles, of axis 2, by
// which they exchange values, and votes, of axis 4.
//
// A warp is 32 work-items of a group that follow each other along axis 0, where the group is a
// multiple of 32 long. All work-items of a warp come to the same shuffle or vote, or none does.
// Only devices whose DeviceInfo names a warp have them.
#pragma once

#include "ir/build.h"

namespace unisono::ir {

inline constexpr std::int32_t shuffle_axis = 2;

inline bool is_shuffle(S s) { return s->kind == StmtKind::Barrier && s->axis == shuffle_axis; }

/// var = `value` of the work-item that stands `distance` further in the warp; some value
/// where the warp ends before. No complex ones.
inline S shuffle_down(Builder& b, std::int32_t var, E value, std::int64_t distance) {
    Stmt s = *b.barrier();
    s.axis = shuffle_axis;
    const E args[] = {value, b.i64(distance)};
    s.args = b.list(std::span<const E>(args));
    s.outs = b.function().arena->copy(std::span<const std::int32_t>(&var, 1));
    return b.own(s);
}

inline constexpr std::int32_t vote_axis = 4;

inline bool is_vote(S s) { return s->kind == StmtKind::Barrier && s->axis == vote_axis; }

/// var, of dtype UInt32, = a bit for each work-item of the warp, set where `predicate` is true.
inline S vote(Builder& b, std::int32_t var, E predicate) {
    Stmt s = *b.barrier();
    s.axis = vote_axis;
    s.args = b.list(std::span<const E>(&predicate, 1));
    s.outs = b.function().arena->copy(std::span<const std::int32_t>(&var, 1));
    return b.own(s);
}

/// A vote about nothing: what the warp's work-items wrote before it the others see behind it.
inline S warp_barrier(Builder& b) {
    Stmt s = *b.barrier();
    s.axis = vote_axis;
    return b.own(s);
}

}  // namespace unisono::ir
