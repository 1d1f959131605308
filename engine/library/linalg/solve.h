// Linear systems: small ones by vector_solve.h, others by LAPACK, whose right sides threads share
// in tiles.
//
// Tiles follow from the shapes alone, so the bits do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "library/linalg/blas.h"
#include "library/linalg/factor_tiles.h"
#include "library/linalg/matrix_stack.h"
#include "library/linalg/vector_solve.h"

namespace unisono::library {

/// Right sides that are worth a task of their own.
inline std::int64_t solve_tile(std::int64_t n) {
    constexpr std::int64_t least = 32, rounded = 8;
    std::int64_t width =
        std::max(least, limits::thread_matrix_operations / std::max<std::int64_t>(1, n * n));
    return (width + rounded - 1) / rounded * rounded;
}

/// Replaces k columns of n by the solutions for the column-major matrix, which becomes its factors;
/// false where it is singular. n and k are positive.
template <class T>
bool solve_columns(std::int64_t n, std::int64_t k, T* matrix, T* columns) {
    auto held = std::make_unique_for_overwrite<blas::Int[]>(static_cast<std::size_t>(n));
    blas::Int* const pivots = held.get();
    if (n >= limits::tiled_rows) {
        if (lu_in_tiles(n, matrix, pivots) != 0) return false;
        solve_in_tiles(n, matrix, pivots, k, columns);
        return true;
    }
    blas::Int info = 0;
    blas::call(blas::routine_for<T>("getrf"), n, n, matrix, n, pivots, &info);
    if (blas::element(&info, 0) != 0) return false;
    void* const getrs = blas::routine_for<T>("getrs");
    const std::int64_t width = solve_tile(n);
    parallel_for(0, (k + width - 1) / width, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t tile = begin; tile < end; ++tile) {
            std::int64_t first = tile * width;
            blas::Int status = 0;
            blas::call(getrs, 'N', n, std::min(width, k - first), matrix, n, pivots,
                       columns + first * n, n, &status);
        }
    });
    return true;
}

/// x = the solutions of matrix @ x = right, all of packed rows; x may be `right`. False where the
/// matrix is singular.
template <class T>
bool solve_rows(std::int64_t n, std::int64_t k, const T* matrix, const T* right, T* x) {
    if (worth_vectors<T>(n, k)) return solve_in_vectors(n, k, matrix, right, x);
    auto lu = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(n * n));
    auto columns = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(n * k));
    transpose_into(matrix, n, n, lu.get());
    transpose_into(right, n, k, columns.get());
    if (!solve_columns(n, k, lu.get(), columns.get())) return false;
    transpose_into(columns.get(), k, n, x);
    return true;
}

/// The inverse of n packed rows, which are destroyed; false where there is none.
template <class T>
bool inverse_of_rows(std::int64_t n, T* matrix, T* inverse) {
    std::fill_n(inverse, n * n, T(0));
    for (std::int64_t k = 0; k < n; ++k) inverse[k * n + k] = T(1);
    if (worth_vectors<T>(n, n)) return solve_in_vectors(n, n, matrix, inverse, inverse);
    // The inverse of the transposed matrix, transposed, is the inverse.
    return solve_columns(n, n, matrix, inverse);
}

}  // namespace unisono::library
