// Elementwise operations that NumPy's rules make of others.
#pragma once

#include "tape/record/record.h"

namespace unisono {

/// NumPy's floor, ceil and trunc of integers and bools are their operands.
Array rounded_integer(Op op, const Arg& x, const Array* out);
/// Neighbours of float16, from its bits: there is no such operation in float32.
Array half_next_after(std::span<const Arg> args, const Array* out);
/// Whether signed integers are compared with uint64, which no integer dtype holds both of...
bool mixes_signs(Op op, std::span<const Arg> args);
/// ...and that comparison, exact: by signs, then as uint64.
Array compare_signs(Op op, std::span<const Arg> args, const Array* out);

}  // namespace unisono
