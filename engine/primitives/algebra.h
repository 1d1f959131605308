// Attributes and rules of products, factorisations and Fourier transforms. Matrices are the last
// two axes.
#pragma once

#include "core/scalar.h"
#include "primitives/rule.h"

namespace unisono::primitives {

/// Whether the operands are a row and a column: those axes of the result are dropped.
struct Product {
    bool row, column;
};
struct Scaling {
    Scalar factor;
};
struct Sliding {
    std::int64_t lead;   ///< of the first window, before the first element
    std::int64_t count;  ///< windows
};
struct Triangle {
    bool upper;
};

enum class QrMode : std::uint8_t { Reduced, Complete, R, Raw };
/// q and r; r alone; or LAPACK's reflectors (transposed) and their factors.
struct Orthogonal {
    QrMode mode;
};
enum class SvdMode : std::uint8_t { Values, Reduced, Full };
/// u, s, vh; or s alone.
struct SingularValues {
    SvdMode mode;
};
/// Eigenvalues in rising order, and vectors if wanted; one triangle is read.
struct SymmetricEigen {
    bool upper, vectors;
};
struct Eigen {
    bool vectors;
};
struct LeastSquares {
    double rcond;
};

enum class FftKind : std::uint8_t {
    Complex,      ///< complex to complex
    RealForward,  ///< real to the first half of a complex spectrum
    RealBackward  ///< the first half of a spectrum to real
};
struct FftStep {
    int axis;
    std::int64_t
        length;  ///< of the transform: shorter inputs are continued by zeros, longer are cut
    double scale;
    bool forward;
    FftKind kind;
    int axes = 1;  ///< more than 1 on devices only: those before `axis` are transformed, too, along
                   ///< all of their extents and after it; not RealBackward
};

namespace rules {
/// Of operands with equal leading axes.
void product(const Product& product, Operands operands, Results& results);
void scaled_product(const Scaling&, Operands operands, Results& results);
void windows(const Sliding& sliding, Operands operands, Results& results);
/// Like the right side.
void solution(const NoAttributes&, Operands operands, Results& results);
/// Determinant, its sign (or phase) and the logarithm of its absolute value.
void determinants(const NoAttributes&, Operands operands, Results& results);
void orthogonal_factors(const Orthogonal& orthogonal, Operands operands, Results& results);
void singular_values(const SingularValues& values, Operands operands, Results& results);
void symmetric_eigen(const SymmetricEigen& eigen, Operands operands, Results& results);
void eigen(const Eigen& eigen, Operands operands, Results& results);
/// x, singular values, and the rank as int64.
void least_squares(const LeastSquares&, Operands operands, Results& results);
void transformed(const FftStep& step, Operands operands, Results& results);
}  // namespace rules

}  // namespace unisono::primitives
