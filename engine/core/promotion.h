// NumPy's promotion of any number of dtypes.
#pragma once

#include <span>

#include "core/dtype.h"

namespace unisono {

/// NumPy's result_type of dtypes, at least one. Not what pairs give in order: int8 and uint8 make
/// int16, but neither adds to a float16 beside them.
DType promote(std::span<const DType> all);

}  // namespace unisono
