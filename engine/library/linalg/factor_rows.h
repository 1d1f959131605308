// Factorisations of one matrix of packed rows by LAPACK: what the primitives do with each matrix of
// a stack, and compiled code with one.
//
// Those that answer whether they succeeded leave their results undefined where they did not. They
// throw std::bad_alloc only. T: float, double and their complex forms.
#pragma once

#include <complex>
#include <cstdint>

#include "primitives/algebra.h"

namespace unisono::library {

template <class T>
struct RealOf {
    using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
    using type = T;
};
template <class T>
using real_of = typename RealOf<T>::type;
template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, real_of<T>>;

template <class T>
struct Determinant {
    T value, sign;         ///< the sign is a phase where T is complex
    real_of<T> logarithm;  ///< of the absolute value
};

template <class T>
Determinant<T> determinant_of_rows(std::int64_t n, const T* matrix);

/// Of m x n. `q`: m x min(m, n), in the complete mode m x m; null where it is not wanted. `r` has
/// as many rows as q has columns; in the raw mode it is LAPACK's packed columns, and `factors` are
/// the min(m, n) factors of the reflectors.
template <class T>
bool qr_of_rows(std::int64_t m, std::int64_t n, primitives::QrMode mode, const T* matrix, T* q,
                T* r, T* factors);

/// Of m x n: u of m rows, the min(m, n) singular values, the transposed right vectors of n columns;
/// u and v_rows are not read in the mode of values alone.
template <class T>
bool svd_of_rows(std::int64_t m, std::int64_t n, primitives::SvdMode mode, const T* matrix, T* u,
                 real_of<T>* values, T* v_rows);

/// Of a symmetric or Hermitian matrix, of which one triangle is read; vectors where there is room
/// for them.
template <class T>
bool eigh_of_rows(std::int64_t n, bool upper, const T* matrix, real_of<T>* values, T* vectors);

/// Eigenvalues and right eigenvectors, the latter where there is room for them. The matrix is
/// finite.
template <class T>
bool eig_of_rows(std::int64_t n, const T* matrix, std::complex<real_of<T>>* values,
                 std::complex<real_of<T>>* vectors);
/// What eig_of_rows may be given: LAPACK would not come to an end otherwise.
template <class T>
bool are_finite(std::int64_t count, const T* elements);

/// The least |a x - b| of a of m x n: x has max(m, n) rows of k, of which the first n are the
/// solution and the others, where the rank is n, what is left of b. Singular values below `limit`
/// times the largest count as zero.
template <class T>
bool lstsq_of_rows(std::int64_t m, std::int64_t n, std::int64_t k, double limit, const T* a,
                   const T* b, T* x, real_of<T>* values, std::int64_t* rank);

}  // namespace unisono::library
