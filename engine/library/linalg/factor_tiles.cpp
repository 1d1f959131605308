#include "library/linalg/factor_tiles.h"

#include <algorithm>

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "library/linalg/matrix_stack.h"

namespace unisono::library {

namespace {

constexpr std::int64_t tile = 192;   // of Cholesky
constexpr std::int64_t panel = 96;   // of LU: columns factored on one thread
constexpr std::int64_t strip = 128;  // columns to the right of it, and right-hand sides

/// Calls body(first, count) for tiles of [begin, end), on all threads.
template <class F>
void for_each_tile(std::int64_t begin, std::int64_t end, std::int64_t size, F&& body) {
    parallel_for(0, (end - begin + size - 1) / size, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t t = first; t < last; ++t) {
            std::int64_t at = begin + t * size;
            body(at, std::min(size, end - at));
        }
    });
}

std::int64_t value_of(const Info& info) { return blas::element(&info.value, 0); }

void set_element(blas::Int* array, std::int64_t i, std::int64_t value) {
    if (blas::wide())
        array[i] = value;
    else
        reinterpret_cast<std::int32_t*>(array)[i] = static_cast<std::int32_t>(value);
}

blas::Int* element_at(blas::Int* array, std::int64_t i) {
    return blas::wide() ? array + i
                        : reinterpret_cast<blas::Int*>(reinterpret_cast<std::int32_t*>(array) + i);
}

}  // namespace

/// Each row of tiles (column, of a lower triangle) takes what those before it contribute at once:
/// the products are long, and each tile is written once.
template <class T>
std::int64_t cholesky_in_tiles(char triangle, std::int64_t n, T* a) {
    using Real = real_of<T>;
    static void* const potrf = blas::routine_for<T>("potrf");
    static void* const trsm = blas::routine_for<T>("trsm");
    static void* const gemm = blas::routine_for<T>("gemm");
    static void* const rank = blas::routine_for<T>(is_complex<T> ? "herk" : "syrk");
    const bool upper = triangle == 'U';
    const char adjoint = is_complex<T> ? 'C' : 'T';
    auto at = [&](std::int64_t r, std::int64_t c) { return a + c * n + r; };
    for (std::int64_t k = 0; k < n; k += tile) {
        const std::int64_t high = std::min(tile, n - k);
        T* diagonal = at(k, k);
        if (k > 0) {
            for_each_tile(k, n, tile, [&](std::int64_t j, std::int64_t wide) {
                if (j == k)
                    blas::call(rank, triangle, upper ? adjoint : 'N', high, k, Real(-1),
                               upper ? at(0, k) : at(k, 0), n, Real(1), diagonal, n);
                else if (upper)
                    blas::call(gemm, adjoint, 'N', high, wide, k, T(-1), at(0, k), n, at(0, j), n,
                               T(1), at(k, j), n);
                else
                    blas::call(gemm, 'N', adjoint, wide, high, k, T(-1), at(j, 0), n, at(k, 0), n,
                               T(1), at(j, k), n);
            });
        }
        Info info;
        blas::call(potrf, triangle, high, diagonal, n, &info.value);
        if (!info.ok()) return value_of(info) + k;
        for_each_tile(k + high, n, tile, [&](std::int64_t j, std::int64_t wide) {
            if (upper)
                blas::call(trsm, 'L', 'U', adjoint, 'N', high, wide, T(1), diagonal, n, at(k, j),
                           n);
            else
                blas::call(trsm, 'R', 'L', adjoint, 'N', wide, high, T(1), diagonal, n, at(j, k),
                           n);
        });
    }
    return 0;
}

template <class T>
bool cholesky_of_rows(bool upper, std::int64_t n, T* m) {
    if (n == 0) return true;
    // Packed rows are LAPACK's packed columns of the transposed matrix.
    const char triangle = upper ? 'L' : 'U';
    if (n >= limits::tiled_rows) {
        if (cholesky_in_tiles(triangle, n, m) != 0) return false;
    } else {
        Info info;
        blas::call(blas::routine_for<T>("potrf"), triangle, n, m, n, &info.value);
        if (!info.ok()) return false;
    }
    constexpr std::int64_t rows = 128;
    for_each_tile(0, n, rows, [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t r = first; r < first + count; ++r) {
            if (upper) std::fill(m + r * n, m + r * n + r, T(0));
            if (!upper) std::fill(m + r * n + r + 1, m + r * n + n, T(0));
        }
    });
    return true;
}

template <class T>
std::int64_t lu_in_tiles(std::int64_t n, T* a, blas::Int* pivots) {
    static void* const getrf = blas::routine_for<T>("getrf");
    static void* const laswp = blas::routine_for<T>("laswp");
    static void* const trsm = blas::routine_for<T>("trsm");
    static void* const gemm = blas::routine_for<T>("gemm");
    std::int64_t singular = 0;
    for (std::int64_t k = 0; k < n; k += panel) {
        const std::int64_t wide = std::min(panel, n - k), below = n - k - wide;
        T* factor = a + k * n + k;
        blas::Int* exchanged = element_at(pivots, k);  // rows of the panel, from 1
        Info info;
        blas::call(getrf, n - k, wide, factor, n, exchanged, &info.value);
        if (!info.ok() && singular == 0) singular = value_of(info) + k;
        auto exchange = [&](std::int64_t j, std::int64_t columns) {
            blas::call(laswp, columns, a + j * n + k, n, std::int64_t{1}, wide, exchanged,
                       std::int64_t{1});
        };
        for_each_tile(0, k, strip, exchange);
        for_each_tile(k + wide, n, strip, [&](std::int64_t j, std::int64_t columns) {
            exchange(j, columns);
            T* top = a + j * n + k;
            blas::call(trsm, 'L', 'L', 'N', 'U', wide, columns, T(1), factor, n, top, n);
            if (below > 0)
                blas::call(gemm, 'N', 'N', below, columns, wide, T(-1), factor + wide, n, top, n,
                           T(1), top + wide, n);
        });
        for (std::int64_t i = 0; i < wide; ++i)
            set_element(exchanged, i, blas::element(exchanged, i) + k);
    }
    return singular;
}

template <class T>
void solve_in_tiles(std::int64_t n, const T* lu, const blas::Int* pivots, std::int64_t count,
                    T* right) {
    static void* const getrs = blas::routine_for<T>("getrs");
    for_each_tile(0, count, strip, [&](std::int64_t j, std::int64_t columns) {
        Info info;
        blas::call(getrs, 'N', n, columns, lu, n, pivots, right + j * n, n, &info.value);
    });
}

#define UNISONO_INSTANTIATE(T)                                       \
    template std::int64_t cholesky_in_tiles(char, std::int64_t, T*); \
    template bool cholesky_of_rows(bool, std::int64_t, T*);          \
    template std::int64_t lu_in_tiles(std::int64_t, T*, blas::Int*); \
    template void solve_in_tiles(std::int64_t, const T*, const blas::Int*, std::int64_t, T*);
UNISONO_INSTANTIATE(float)
UNISONO_INSTANTIATE(double)
UNISONO_INSTANTIATE(std::complex<float>)
UNISONO_INSTANTIATE(std::complex<double>)
#undef UNISONO_INSTANTIATE

}  // namespace unisono::library
