// Hermitian matrices to tridiagonal and others to bidiagonal form on devices, and the vectors back.
#pragma once

#include "library/on_device/linalg/factoring.h"

namespace unisono::library {

/// Matrices divided by `scales`, which keep squares in range.
struct Scaled {
    DeviceVector matrices, scales;
    std::int64_t count, m, n;
};

/// The least number whose inverse is finite and of full precision.
Scalar least_inverted(DType t);

/// Sums of squares up to here are of what rounding left in scaled matrices.
Scalar least_square(DType t);

/// Which elements of the operand count.
enum class Part : std::uint8_t { All, Lower, Upper };

/// Hermitian matrices from one triangle, or all of them, or the adjoints of all. `failed` becomes
/// the first one that is not finite, if that is less.
Scaled scaled(DeviceWork& work, const View& in, Part part, bool adjoint,
              const DeviceVector& failed);

/// What a reduction leaves: the diagonal, n for each matrix, what is beside it, n too, of which the
/// last is nothing, and reflectors of columns (and of rows).
struct Reduced {
    DeviceVector d, e;
    Reflectors left, right;
};
Reduced tridiagonal(DeviceWork& work, const Scaled& a, bool vectors);
/// Of matrices with at least as many rows as columns.
Reduced bidiagonal(DeviceWork& work, const Scaled& a, bool vectors);

/// The first `columns` columns of the product of all reflections, transposed: the vectors are rows.
DeviceVector vectors_of(DeviceWork& work, const Reflectors& r, std::int64_t columns);

}  // namespace unisono::library
