// Matrices without symmetry to Hessenberg form and on to (quasi-)triangular form on devices.
#pragma once

#include "library/on_device/linalg/reducing.h"

namespace unisono::library {

/// A stack of n x n matrices whose rows lie `row` elements apart, with zeros between them.
struct Spaced {
    DeviceVector matrices;
    std::int64_t count, n, row;
};

/// Similar matrices: rows and columns of `a` in an order in which those whose values stand in the
/// diagonal come last or first. `order` is where each was.
Scaled isolated(DeviceWork& work, const Scaled& a, const DeviceVector& order);

/// Similar matrices of alike rows and columns; `scales` are what the columns were multiplied by.
Spaced balanced(DeviceWork& work, const Scaled& a, const DeviceVector& scales);

/// The reflectors; `a` becomes zero below the diagonal beside its own.
Reflectors hessenberg(DeviceWork& work, const Spaced& a);

/// `h` becomes (quasi-)triangular, and `v`, whose rows are vectors, turns along, if it is given.
/// `failed` becomes the first matrix whose values are not found, if that is less. `norms` becomes
/// the sums of sizes of the matrices' elements.
void find_schur_form(DeviceWork& work, const Spaced& h, const DeviceVector* v,
                     const DeviceVector& norms, const DeviceVector& failed);

}  // namespace unisono::library
