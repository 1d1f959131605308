// Products of matrices that lie ready in host memory.
#pragma once

#include "core/layout.h"
#include "core/scalar.h"

namespace unisono::library {

/// Matrices in host memory: the last two axes; strides in elements.
struct MatrixStack {
    const void* data;
    Dims shape, strides;
};

/// out = a @ b for stacks of equal leading axes and one dtype; `out` is packed. Both matrices must
/// be as takes_strides wants them.
void multiply_stacks(DType t, const MatrixStack& a, const MatrixStack& b, void* out);
/// out += a @ b, of two matrices.
void add_product(DType t, const MatrixStack& a, const MatrixStack& b, void* out);
bool takes_strides(std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t column);

/// One product: out[m, n] = a[m, k] b[k, n]; steps in elements.
struct Sizes {
    std::int64_t m, n, k;
};
struct MatrixAt {
    const void* data;
    std::int64_t row, column;
};
/// On this thread; `out` is packed.
void multiply_matrices(DType t, Sizes s, const MatrixAt& a, const MatrixAt& b, void* out);

struct VectorAt {
    const void* data;
    std::int64_t step;
};
/// The sum of x[i] y[i], for dtypes whose elements a Scalar holds.
Scalar dot_of(DType t, std::int64_t count, const VectorAt& x, const VectorAt& y);

}  // namespace unisono::library
