// Shuffles: statements of kind Barrier, of axis 2, by which the work-items of a warp exchange
// values.
//
// A warp is 32 work-items of a group that follow each other along axis 0, where the group is a
// multiple of 32 long. All work-items of a warp come to the same shuffle, or none does. Only
// devices whose DeviceInfo names a warp have them.
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

}  // namespace unisono::ir
