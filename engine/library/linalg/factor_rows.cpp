// One matrix at a time, by LAPACK.
//
// Our matrices are packed rows, LAPACK's packed columns: the same memory is the transposed matrix
// there. Where transposition changes nothing that cannot be named by another argument, memory
// passes as it is; elsewhere it is transposed on the way.
#include "library/linalg/factor_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/limits.h"
#include "library/linalg/factor_tiles.h"
#include "library/linalg/matrix_stack.h"

namespace unisono::library {

using primitives::QrMode;
using primitives::SvdMode;

namespace {

/// Work space of a routine that is called twice: the first call, with a size of -1, asks for it.
template <class T>
struct WorkSpace {
    Buffer<T> work = buffer<T>(1);
    Buffer<real_of<T>> real = buffer<real_of<T>>(1);
    Buffer<blas::Int> integer = buffer<blas::Int>(1);
    std::int64_t work_size = -1, real_size = -1, integer_size = -1;

    /// After the question.
    void grow() {
        work_size = static_cast<std::int64_t>(std::real(work[0]));
        // Single precision rounds large sizes down.
        if constexpr (std::is_same_v<real_of<T>, float>) work_size += work_size >> 20;
        real_size = static_cast<std::int64_t>(real[0]);
        integer_size = blas::element(integer.get(), 0);
        work = buffer<T>(work_size);
        real = buffer<real_of<T>>(real_size);
        integer = buffer<blas::Int>(integer_size);
    }
};

/// Calls `routine`, which gets the work space and LAPACK's answer, with the question and then for
/// the work; whether both went well.
template <class T, class F>
bool call_twice(F routine) {
    WorkSpace<T> space;
    for (int round = 0; round < 2; ++round) {
        Info info;
        routine(space, &info.value);
        if (!info.ok()) return false;
        if (round == 0) space.grow();
    }
    return true;
}

/// The upper triangle of packed columns of height m as rows x n packed rows.
template <class T>
void take_upper(const T* columns, std::int64_t m, std::int64_t rows, std::int64_t n, T* to) {
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < n; ++c) to[r * n + c] = c < r ? T(0) : columns[c * m + r];
    }
}

/// Complex vectors, packed rows, from pairs of real columns.
template <class T>
void pair_vectors(const T* columns, const T* imaginary, std::int64_t n, std::complex<T>* to) {
    for (std::int64_t c = 0; c < n; ++c) {
        const T* x = columns + c * n;
        bool pair = imaginary[c] != 0 && c + 1 < n;
        for (std::int64_t r = 0; r < n; ++r) {
            T y = pair ? x[n + r] : T(0);
            to[r * n + c] = {x[r], y};
            if (pair) to[r * n + c + 1] = {x[r], -y};
        }
        if (pair) ++c;
    }
}

}  // namespace

template <class T>
Determinant<T> determinant_of_rows(std::int64_t n, const T* matrix) {
    using Real = real_of<T>;
    auto lu = buffer<T>(n * n);
    auto pivots = buffer<blas::Int>(n);
    Info info;
    copy_elements(matrix, n * n, lu.get());
    if (n >= limits::tiled_rows)
        lu_in_tiles(n, lu.get(), pivots.get());
    else if (n > 0)
        blas::call(blas::routine_for<T>("getrf"), n, n, lu.get(), n, pivots.get(), &info.value);
    T product(1), phase(1);
    Real logarithm = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        T d = lu[static_cast<std::size_t>(k * n + k)];
        if (blas::element(pivots.get(), k) != k + 1) product = -product, phase = -phase;
        product *= d;
        Real size = std::abs(d);
        if (size == 0) {
            phase = T(0);
            logarithm = -std::numeric_limits<Real>::infinity();
            continue;
        }
        phase *= d / size;
        logarithm += std::log(size);
    }
    // A product on the way may leave the range though the determinant does not.
    Real size = std::abs(product);
    if (!(size > std::numeric_limits<Real>::min() && size <= std::numeric_limits<Real>::max()))
        product = phase == T(0) ? T(0) : phase * std::exp(logarithm);
    return {product, phase, logarithm};
}

template <class T>
bool qr_of_rows(std::int64_t m, std::int64_t n, QrMode mode, const T* matrix, T* q, T* r,
                T* factors) {
    const std::int64_t least = std::min(m, n), width = mode == QrMode::Complete ? m : least;
    auto columns = buffer<T>(m * std::max(n, width)), tau = buffer<T>(least);
    std::int64_t size = 64 * std::max<std::int64_t>(1, std::max(m, n));
    auto work = buffer<T>(size);
    Info info;
    transpose_into(matrix, m, n, columns.get());
    if (n > 0) {
        blas::call(blas::routine_for<T>("geqrf"), m, n, columns.get(), m, tau.get(), work.get(),
                   size, &info.value);
    }
    if (mode == QrMode::Raw) {
        copy_elements(columns.get(), m * n, r);
        copy_elements(tau.get(), least, factors);
        return info.ok();
    }
    take_upper(columns.get(), m, width, n, r);
    if (!q || width == 0) return info.ok();
    Info formed;
    blas::call(blas::routine_for<T>(is_complex<T> ? "ungqr" : "orgqr"), m, width, least,
               columns.get(), m, tau.get(), work.get(), size, &formed.value);
    transpose_into(columns.get(), width, m, q);
    return info.ok() && formed.ok();
}

template <class T>
bool svd_of_rows(std::int64_t m, std::int64_t n, SvdMode mode, const T* matrix, T* u,
                 real_of<T>* values, T* v_rows) {
    const std::int64_t least = std::min(m, n), most = std::max(m, n);
    const bool vectors = mode != SvdMode::Values, full = mode == SvdMode::Full;
    void* const gesdd = blas::routine_for<T>("gesdd");
    const char job = !vectors ? 'N' : full ? 'A' : 'S';
    const std::int64_t u_columns = !vectors ? 0 : full ? m : least;
    const std::int64_t v_count = !vectors ? 0 : full ? n : least;
    const std::int64_t v_step = std::max<std::int64_t>(1, v_count);
    // The matrix itself, not its transpose that lies in memory: vectors get the signs of NumPy's.
    auto held = buffer<T>(m * n), u_held = buffer<T>(m * u_columns),
         v_held = buffer<T>(v_count * n);
    transpose_into(matrix, m, n, held.get());
    auto integers = buffer<blas::Int>(8 * least);
    auto reals = buffer<real_of<T>>(
        is_complex<T> ? least * std::max(5 * least + 7, 2 * most + 2 * least + 1) : 1);
    const bool ok = call_twice<T>([&](WorkSpace<T>& space, blas::Int* info) {
        if constexpr (is_complex<T>) {
            blas::call(gesdd, job, m, n, held.get(), m, values, u_held.get(), m, v_held.get(),
                       v_step, space.work.get(), space.work_size, reals.get(), integers.get(),
                       info);
        } else {
            blas::call(gesdd, job, m, n, held.get(), m, values, u_held.get(), m, v_held.get(),
                       v_step, space.work.get(), space.work_size, integers.get(), info);
        }
    });
    if (ok && vectors) {
        transpose_into(u_held.get(), u_columns, m, u);
        transpose_into(v_held.get(), n, v_count, v_rows);
    }
    return ok;
}

template <class T>
bool eigh_of_rows(std::int64_t n, bool upper, const T* matrix, real_of<T>* values, T* vectors) {
    void* const syevd = blas::routine_for<T>(is_complex<T> ? "heevd" : "syevd");
    const char job = vectors ? 'V' : 'N', triangle = upper ? 'U' : 'L';
    auto held = buffer<T>(n * n);
    transpose_into(matrix, n, n, held.get());
    const bool ok = call_twice<T>([&](WorkSpace<T>& space, blas::Int* info) {
        if constexpr (is_complex<T>) {
            blas::call(syevd, job, triangle, n, held.get(), n, values, space.work.get(),
                       space.work_size, space.real.get(), space.real_size, space.integer.get(),
                       space.integer_size, info);
        } else {
            blas::call(syevd, job, triangle, n, held.get(), n, values, space.work.get(),
                       space.work_size, space.integer.get(), space.integer_size, info);
        }
    });
    if (ok && vectors) transpose_into(held.get(), n, n, vectors);
    return ok;
}

template <class T>
bool are_finite(std::int64_t count, const T* elements) {
    const auto* x = reinterpret_cast<const real_of<T>*>(elements);
    return std::all_of(x, x + count * (is_complex<T> ? 2 : 1),
                       [](real_of<T> v) { return std::isfinite(v); });
}

template <class T>
bool eig_of_rows(std::int64_t n, const T* matrix, std::complex<real_of<T>>* values,
                 std::complex<real_of<T>>* vectors) {
    void* const geev = blas::routine_for<T>("geev");
    const char job = vectors ? 'V' : 'N';
    auto held = buffer<T>(n * n), right = buffer<T>(vectors ? n * n : 1);
    auto reals = buffer<real_of<T>>(2 * n);
    transpose_into(matrix, n, n, held.get());
    T unused;
    const bool ok = call_twice<T>([&](WorkSpace<T>& space, blas::Int* info) {
        if constexpr (is_complex<T>) {
            blas::call(geev, 'N', job, n, held.get(), n, values, &unused, std::int64_t{1},
                       right.get(), n, space.work.get(), space.work_size, reals.get(), info);
        } else {
            blas::call(geev, 'N', job, n, held.get(), n, reals.get(), reals.get() + n, &unused,
                       std::int64_t{1}, right.get(), n, space.work.get(), space.work_size, info);
        }
    });
    if (!ok) return false;
    if constexpr (is_complex<T>) {
        if (vectors) transpose_into(right.get(), n, n, vectors);
    } else {
        const T *real = reals.get(), *imaginary = real + n;
        for (std::int64_t k = 0; k < n; ++k) values[k] = {real[k], imaginary[k]};
        if (vectors) pair_vectors(right.get(), imaginary, n, vectors);
    }
    return true;
}

template <class T>
bool lstsq_of_rows(std::int64_t m, std::int64_t n, std::int64_t k, double limit, const T* a,
                   const T* b, T* x, real_of<T>* values, std::int64_t* rank) {
    const std::int64_t most = std::max(m, n);
    void* const gelsd = blas::routine_for<T>("gelsd");
    auto matrix = buffer<T>(m * n), columns = buffer<T>(most * k);
    transpose_into(a, m, n, matrix.get());
    for (std::int64_t r = 0; r < m; ++r) {
        for (std::int64_t c = 0; c < k; ++c)
            columns[static_cast<std::size_t>(c * most + r)] = b[r * k + c];
    }
    blas::Int found = 0;
    const auto rcond = static_cast<real_of<T>>(limit);
    const bool ok = call_twice<T>([&](WorkSpace<T>& space, blas::Int* info) {
        if constexpr (is_complex<T>) {
            blas::call(gelsd, m, n, k, matrix.get(), m, columns.get(), most, values, rcond, &found,
                       space.work.get(), space.work_size, space.real.get(), space.integer.get(),
                       info);
        } else {
            blas::call(gelsd, m, n, k, matrix.get(), m, columns.get(), most, values, rcond, &found,
                       space.work.get(), space.work_size, space.integer.get(), info);
        }
    });
    if (!ok) return false;
    *rank = blas::element(&found, 0);
    transpose_into(columns.get(), k, most, x);
    return true;
}

#define UNISONO_INSTANTIATE(T)                                                                     \
    template Determinant<T> determinant_of_rows(std::int64_t, const T*);                           \
    template bool qr_of_rows(std::int64_t, std::int64_t, QrMode, const T*, T*, T*, T*);            \
    template bool svd_of_rows(std::int64_t, std::int64_t, SvdMode, const T*, T*, real_of<T>*, T*); \
    template bool eigh_of_rows(std::int64_t, bool, const T*, real_of<T>*, T*);                     \
    template bool eig_of_rows(std::int64_t, const T*, std::complex<real_of<T>>*,                   \
                              std::complex<real_of<T>>*);                                          \
    template bool are_finite(std::int64_t, const T*);                                              \
    template bool lstsq_of_rows(std::int64_t, std::int64_t, std::int64_t, double, const T*,        \
                                const T*, T*, real_of<T>*, std::int64_t*);
UNISONO_INSTANTIATE(float)
UNISONO_INSTANTIATE(double)
UNISONO_INSTANTIATE(std::complex<float>)
UNISONO_INSTANTIATE(std::complex<double>)
#undef UNISONO_INSTANTIATE

}  // namespace unisono::library
