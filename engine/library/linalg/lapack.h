// Factorisations and solutions by LAPACK over stacks of matrices, computed eagerly: their errors
// depend on data.
#pragma once

#include <vector>

#include "tape/array.h"

namespace unisono::library {

struct Factors {
    std::vector<Array> arrays;
    std::int64_t failed = -1;  ///< first matrix of the stack that LAPACK gave up on, else -1
};

// Matrices are the last two axes; float32, float64 and their complex forms.

/// x of a x = b, both with the same leading axes.
Factors solve(const Array& a, const Array& b);
Factors inverse(const Array& a);
/// Determinant, its sign (or phase) and the logarithm of its absolute value.
Factors determinant(const Array& a);
/// Reads one triangle only; the other one of the result is zero.
Factors cholesky(const Array& a, bool upper);

enum class QrMode : std::uint8_t { Reduced, Complete, R, Raw };
/// q and r; r alone; or LAPACK's reflectors (transposed) and their factors.
Factors qr(const Array& a, QrMode mode);

enum class SvdMode : std::uint8_t { Values, Reduced, Full };
/// u, s, vh; or s alone.
Factors svd(const Array& a, SvdMode mode);
/// Eigenvalues of symmetric or Hermitian matrices in rising order, and vectors if wanted.
Factors eigh(const Array& a, bool upper, bool vectors);
/// Eigenvalues and right eigenvectors if wanted: complex where any is, for the whole stack.
Factors eig(const Array& a, bool vectors);
/// Least squares of one matrix: x, singular values, and the rank as int64.
Factors lstsq(const Array& a, const Array& b, double rcond);

}  // namespace unisono::library
