// Eigenvalues of tridiagonal and singular values of bidiagonal matrices on devices.
#pragma once

#include "library/on_device/device_work.h"

namespace unisono::library {

/// A stack of such matrices: the diagonal and what is beside it, n of each, which become the values
/// and zeros.
struct Diagonals {
    DeviceVector d, e;
    std::int64_t count, n;
    bool is_bidiagonal;
};

/// The vectors that belong to a stack, as rows, of which the first n of `rows` turn; nothing where
/// nobody wants them.
struct VectorRows {
    DeviceVector memory;
    std::int64_t rows, length;
};

/// Turns vectors along: of a bidiagonal matrix `right` and `left` ones, else `right` ones alone.
/// `failed` becomes the first matrix whose values are not found, if that is less.
void find_values(DeviceWork& work, const Diagonals& values, const VectorRows* right,
                 const VectorRows* left, const DeviceVector& failed);

}  // namespace unisono::library
