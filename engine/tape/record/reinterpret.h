// Views of the same memory as another dtype.
#pragma once

#include "tape/array.h"

namespace unisono {

/// The memory of an array that has some as another dtype: NumPy's ``view``. Of another size only
/// along a packed last axis, and where all elements stay aligned.
Array view_as(const Array& a, DType dtype);

}  // namespace unisono
