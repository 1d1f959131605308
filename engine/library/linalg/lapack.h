// Factorisations and solutions by LAPACK over stacks of matrices: the last two axes, of float32,
// float64 and their complex forms. What data may be refused (singular matrices) is computed before
// these functions return.
#pragma once

#include <vector>

#include "primitives/algebra.h"
#include "tape/array.h"

namespace unisono::library {

/// The array packed, where its dtype is one of LAPACK's; throws otherwise.
Array checked_matrices(const Array& a);

/// x of a x = b, both with the same leading axes.
Array solve(const Array& a, const Array& b);
Array inverse(const Array& a);
/// Determinant, its sign (or phase) and the logarithm of its absolute value.
std::vector<Array> determinant(const Array& a);
/// Reads one triangle only; the other one of the result is zero.
Array cholesky(const Array& a, bool upper);
std::vector<Array> qr(const Array& a, primitives::QrMode mode);
std::vector<Array> svd(const Array& a, primitives::SvdMode mode);
/// Eigenvalues of symmetric or Hermitian matrices in rising order, and vectors if wanted.
std::vector<Array> eigh(const Array& a, bool upper, bool vectors);
/// Eigenvalues and right eigenvectors if wanted, complex.
std::vector<Array> eig(const Array& a, bool vectors);
/// Least squares of one matrix: x, singular values, and the rank as int64.
std::vector<Array> lstsq(const Array& a, const Array& b, double rcond);

}  // namespace unisono::library
