// NumPy 2's dtypes of operands and results, and which numbers a dtype takes.
#pragma once

#include <span>
#include <string_view>

#include "ops/ops.h"
#include "tape/array.h"

namespace unisono {

/// -1 where an integer lies below the range of an integer dtype, 1 above it, 0 in it.
int misfit(Scalar s, DType t);
/// A comparison of integers with a Python integer that their dtype cannot hold has one answer for
/// all of them: it becomes a comparison with the end of the range.
void compare_in_range(Op& op, std::span<Arg> args);
/// A Python integer must fit the dtype that it adapts to.
void check_weak(std::string_view what, const Arg& a, DType t);
/// What int() of a Python float refuses, or what then does not fit, is refused where it would be
/// stored as an integer.
void check_weak_float(const Arg& a, DType t);
/// The form that an operation has on bools.
Op bool_form(Op op, DType t);
/// The dtype in which op computes on operands of dtype `common`; throws where there is none.
DType checked_compute(Op op, DType common);
/// The same for operands; op becomes the form that bools have.
DType compute_form(Op& op, std::span<const Arg> args);

}  // namespace unisono
