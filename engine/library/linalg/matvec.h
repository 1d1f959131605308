// Products of a matrix and a vector of floats: they read the matrix once, so they run at the speed
// of memory.
#pragma once

#include <cstdint>
#include <span>

namespace unisono::library {

/// A matrix whose rows are dense.
template <class T>
struct DenseRows {
    const T* data;
    std::int64_t rows, columns;
    std::int64_t leading;  ///< elements from one row to the next
};

/// out[rows] = a x
template <class T>
void matrix_times_vector(const DenseRows<T>& a, const T* x, std::int64_t x_stride, T* out);
/// The same for the matrix times a factor, which is not stored: the bits of the product with the
/// scaled matrix, of at least `wide_from` columns.
constexpr std::int64_t wide_from = 513;
template <class T>
void scaled_matrix_times_vector(const DenseRows<T>& a, T factor, const T* x, std::int64_t x_stride,
                                T* out);
/// out[columns] = x a
template <class T>
void vector_times_matrix(const DenseRows<T>& a, const T* x, std::int64_t x_stride, T* out);

/// Both in one pass over the matrix, with the same bits: forward = a x, backward = y a. `y` may be
/// `forward` itself; x does not overlap the output.
template <class T>
struct BothProducts {
    const T* x;
    std::int64_t x_stride;
    T* forward;
    const T* y;
    std::int64_t y_stride;
    T* backward;
};
template <class T>
void multiply_both(const DenseRows<T>& a, const BothProducts<T>& p);

/// One of several products with neighbouring parts of a matrix.
template <class T>
struct PartProduct {
    const T* x;
    std::int64_t x_stride;
    std::int64_t first, count;  ///< rows of the part (a x), or columns (x a); all of the others
    T* out;                     ///< [count]
};
/// All in one pass, each with the bits that it has alone. No part lies outside of the matrix, and
/// rows or columns of it that no part has are not touched.
template <class T>
void matrix_times_vectors(const DenseRows<T>& a, std::span<const PartProduct<T>> products);
template <class T>
void vectors_times_matrix(const DenseRows<T>& a, std::span<const PartProduct<T>> products);

/// Vectors as rows, at any strides.
template <class T>
struct FewRows {
    const T* data;
    std::int64_t count, row, column;
};
/// out[count, columns] = x a in one pass over a matrix that no cache holds; each row has the bits
/// that it has alone.
template <class T>
void few_rows_times_matrix(const DenseRows<T>& a, const FewRows<T>& x, T* out);
/// Whether that costs less than a library that packs the matrix.
template <class T>
bool is_worth_one_pass(const DenseRows<T>& a, std::int64_t count);

/// The sum of x[i] y[i] at any strides.
template <class T>
T dot_product(std::int64_t count, const T* x, std::int64_t x_stride, const T* y,
              std::int64_t y_stride);

}  // namespace unisono::library
