// Products of a matrix and a vector that share a pass over the matrix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "library/linalg/matvec.h"
#include "primitives/primitive.h"

namespace unisono::library {

/// How BLAS takes a row-major rows x columns matrix: 'N' if rows are dense, 'T' if columns are.
struct Transposition {
    char letter;  ///< 0: BLAS cannot
    std::int64_t leading;
};

inline Transposition transposition(std::int64_t rows, std::int64_t columns, std::int64_t row,
                                   std::int64_t column) {
    if ((column == 1 || columns == 1) && (row >= std::max<std::int64_t>(1, columns) || rows == 1))
        return {'N', rows == 1 ? std::max<std::int64_t>(1, columns) : row};
    if ((row == 1 || rows == 1) && (column >= std::max<std::int64_t>(1, rows) || columns == 1))
        return {'T', columns == 1 ? std::max<std::int64_t>(1, rows) : column};
    return {0, 0};
}

/// Of a product out[m, n] = a[m, k] b[k, n]: its operands where they lie; strides in elements.
struct ProductOperands {
    std::int64_t m, n, k;
    const void* a;
    std::int64_t a_row, a_column;
    const void* b;
    std::int64_t b_row, b_column;
    void* out;
};

/// A product of a dense matrix and a vector, as matvec.h runs it.
template <class T>
struct VectorProduct {
    DenseRows<T> a{};
    const T* x = nullptr;
    std::int64_t x_stride = 0;
    T* out = nullptr;
    bool forward = false;  ///< a x, else x a
};

/// `a.data` is null where this is no such product.
template <class T>
VectorProduct<T> vector_product(const ProductOperands& o);

/// Those of the products that read the same matrix as the first, from the same side, in one pass:
/// a bit for each. None, having done nothing, where there are not two. A product whose `is_ready`
/// is false stays out.
template <class T>
std::uint64_t multiply_several(std::span<const VectorProduct<T>> products,
                               std::span<const bool> is_ready);

/// Runs the first of several pending products and what goes with it (call.h).
std::uint64_t multiply_together(std::span<const CallOperands> calls);

}  // namespace unisono::library
