// Products of matrices and stacks of matrices.
#pragma once

#include "tape/array.h"

namespace unisono::library {

/// NumPy's matmul: vectors are rows on the left and columns on the right, leading axes broadcast.
/// With `out`, the product is written there.
Array matmul(const Array& a, const Array& b, const Array* out = nullptr);

/// Matrices in host memory: the last two axes; strides in elements.
struct MatrixStack {
    const void* data;
    Dims shape, strides;
};

/// out = a @ b for stacks of equal leading axes and one dtype; `out` is packed. Both matrices must
/// be as takes_strides wants them.
void multiply_stacks(DType t, const MatrixStack& a, const MatrixStack& b, void* out);
bool takes_strides(std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t column);

}  // namespace unisono::library
