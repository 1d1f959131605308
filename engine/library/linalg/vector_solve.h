// Small linear systems with many right sides: lanes of vectors are columns of the right side.
//
// LAPACK's routines for so small a matrix spend most of their time on getting ready. Each element
// is computed in one order, whatever the vectors' width and the number of threads.
#pragma once

#include <complex>
#include <cstdint>

namespace unisono::library {

/// Whether solve_in_vectors is there and faster than LAPACK for k right sides of n rows.
template <class T>
bool worth_vectors(std::int64_t n, std::int64_t k);

/// x = the solutions of matrix @ x = right, all of packed rows; x may be `right`. False where the
/// matrix is singular. Threads share the right sides.
template <class T>
bool solve_in_vectors(std::int64_t n, std::int64_t k, const T* matrix, const T* right, T* x);

}  // namespace unisono::library
