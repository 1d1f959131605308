// Products of matrices and stacks of matrices.
#pragma once

#include "tape/array.h"

namespace unisono::library {

/// NumPy's matmul: vectors are rows on the left and columns on the right, leading axes broadcast.
/// With `out`, the product is written there.
Array matmul(const Array& a, const Array& b, const Array* out = nullptr);

}  // namespace unisono::library
