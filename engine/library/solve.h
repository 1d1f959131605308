// Linear systems by LAPACK: one decomposition, then the right sides in tiles, which threads share.
//
// Tiles follow from the shapes alone, so the bits do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "core/parallel.h"
#include "library/blas.h"
#include "library/factor_tiles.h"

namespace unisono::library {

/// Right sides that are worth a task of their own.
inline std::int64_t solve_tile(std::int64_t n) {
    constexpr std::int64_t worth = 1 << 17, least = 32, rounded = 8;
    std::int64_t width = std::max(least, worth / std::max<std::int64_t>(1, n * n));
    return (width + rounded - 1) / rounded * rounded;
}

/// Replaces k columns of n by the solutions for the column-major matrix, which becomes its factors;
/// false where it is singular. n and k are positive.
template <class T>
bool solve_columns(std::int64_t n, std::int64_t k, T* matrix, T* columns) {
    auto held = std::make_unique_for_overwrite<blas::Int[]>(static_cast<std::size_t>(n));
    blas::Int* const pivots = held.get();
    if (n >= worth_tiles) {
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

}  // namespace unisono::library
