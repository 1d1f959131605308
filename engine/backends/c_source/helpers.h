// C text of the helper functions that close what C leaves open (docs/ir.md): un_floordiv_long and
// the like.
#pragma once

#include <string>
#include <string_view>

#include "core/dtype.h"
#include "ops/ops.h"

namespace unisono::c_source {

/// Spelling of a value type in helpers' names and text: bool, uchar, int, long, float, double.
std::string_view c_type(DType t);
/// The unsigned type of the same width.
std::string_view c_unsigned(DType t);

struct Helper {
    std::string name;
    std::string text;  ///< without the dialect's qualifier: starts at the result type
};

/// The helper of an operation whose spelling in ops.def starts with '@', on operands of dtype t.
Helper op_helper(Op op, DType t);
/// The helper of a conversion, or an empty name where a C cast does what docs/ir.md says. That of a
/// float to uint8 calls the one to int32.
Helper cast_helper(DType from, DType to);

}  // namespace unisono::c_source
