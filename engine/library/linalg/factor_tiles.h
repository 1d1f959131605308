// Factorisations of one large matrix over fixed tiles: LAPACK's routines on the tiles, our threads
// between them. Tiles follow from the size alone, so the bits do not depend on the threads.
#pragma once

#include <cstdint>

#include "library/linalg/blas.h"

namespace unisono::library {

/// As ?potrf, of columns n apart; what it returns is that routine's info.
template <class T>
std::int64_t cholesky_in_tiles(char triangle, std::int64_t n, T* a);

/// Replaces a matrix of packed rows by its lower or upper factor, with zeros in the other triangle;
/// false where it is not positive definite. Threads share what is large.
template <class T>
bool cholesky_of_rows(bool upper, std::int64_t n, T* m);

/// As ?getrf of n columns, n apart, with rows exchanged as `pivots` says (elements as LAPACK's
/// integers are).
template <class T>
std::int64_t lu_in_tiles(std::int64_t n, T* a, blas::Int* pivots);

/// As ?getrs without transposition, of what lu_in_tiles made: `count` right-hand sides.
template <class T>
void solve_in_tiles(std::int64_t n, const T* lu, const blas::Int* pivots, std::int64_t count,
                    T* right);

}  // namespace unisono::library
