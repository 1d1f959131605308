// Linear systems, inverses, determinants, Cholesky and QR.
//
// Our matrices are packed rows, LAPACK's packed columns: the same memory is the transposed matrix
// there. Where transposition changes nothing that cannot be named by another argument, memory
// passes as it is; elsewhere it is transposed on the way.
#include "library/linalg/lapack.h"

#include <cmath>
#include <cstring>

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "library/linalg/factor_tiles.h"
#include "library/linalg/matrix_stack.h"
#include "library/linalg/solve.h"

namespace unisono::library {

namespace {

template <class T>
Factors solve_typed(const Array& given, const Array& right) {
    const auto width = static_cast<double>(right.shape().back());
    Stack<T> a(given, 1 + width / static_cast<double>(given.shape().back()));
    Stack<T> b(right, a.memory);
    std::int64_t n = a.rows, k = b.columns;
    Made<T> x(b.shape({n, k}), a.memory.get());
    auto body = [=, matrices = a.data, sides = b.data, to = x.data](std::int64_t i) {
        if (n == 0 || k == 0) return true;
        return solve_rows(n, k, matrices + i * n * n, sides + i * n * k, to + i * n * k);
    };
    std::int64_t failed = for_each_matrix(a.count, n, a.memory, body);
    return {{x.array}, failed};
}

template <class T>
Factors inverse_typed(const Array& given) {
    Stack<T> a(given, 3);
    std::int64_t n = a.rows;
    Made<T> inverse(a.shape({n, n}), a.memory.get());
    auto body = [=, matrices = a.data, to = inverse.data](std::int64_t i) {
        if (n == 0) return true;
        auto rows = buffer<T>(n * n);
        copy_elements(matrices + i * n * n, n * n, rows.get());
        return inverse_of_rows(n, rows.get(), to + i * n * n);
    };
    std::int64_t failed = for_each_matrix(a.count, n, a.memory, body);
    return {{inverse.array}, failed};
}

template <class T>
Factors determinant_typed(const Array& given) {
    using Real = real_of<T>;
    Stack<T> a(given, 1);
    std::int64_t n = a.rows;
    CallMemory* memory = a.memory.get();
    Made<T> det(a.shape({}), memory), sign(a.shape({}), memory);
    Made<Real> log(a.shape({}), memory);
    void* getrf = blas::routine_for<T>("getrf");
    auto body = [=, matrices = a.data, to_det = det.data, to_sign = sign.data,
                 to_log = log.data](std::int64_t i) {
        auto lu = buffer<T>(n * n);
        auto pivots = buffer<blas::Int>(n);
        Info info;
        copy_elements(matrices + i * n * n, n * n, lu.get());
        if (n >= limits::tiled_rows)
            lu_in_tiles(n, lu.get(), pivots.get());
        else if (n > 0)
            blas::call(getrf, n, n, lu.get(), n, pivots.get(), &info.value);
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
        to_det[i] = product;
        to_sign[i] = phase;
        to_log[i] = logarithm;
        return true;
    };
    for_each_matrix(a.count, n, a.memory, body);
    return {{det.array, sign.array, log.array}, -1};
}

template <class T>
Factors cholesky_typed(const Array& given, bool upper) {
    Stack<T> a(given, 1);
    std::int64_t n = a.rows;
    Made<T> factor(a.shape({n, n}), a.memory.get());
    auto body = [=, matrices = a.data, to = factor.data](std::int64_t i) {
        if (n == 0) return true;
        T* m = to + i * n * n;
        copy_elements(matrices + i * n * n, n * n, m);
        return cholesky_of_rows(upper, n, m);
    };
    std::int64_t failed = for_each_matrix(a.count, n, a.memory, body);
    return {{factor.array}, failed};
}

/// The upper triangle of packed columns of height m as rows x n packed rows.
template <class T>
void take_upper(const T* columns, std::int64_t m, std::int64_t rows, std::int64_t n, T* to) {
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < n; ++c) to[r * n + c] = c < r ? T(0) : columns[c * m + r];
    }
}

template <class T>
Factors qr_typed(const Array& given, QrMode mode) {
    Stack<T> a(given, 4);
    CallMemory* memory = a.memory.get();
    std::int64_t m = a.rows, n = a.columns, least = std::min(m, n);
    bool wants_q = mode == QrMode::Reduced || mode == QrMode::Complete;
    std::int64_t width = mode == QrMode::Complete ? m : least;
    const std::vector<std::int64_t> none{0};
    Made<T> q(wants_q ? a.shape({m, width}) : none, memory);
    Made<T> r(mode == QrMode::Raw ? a.shape({n, m}) : a.shape({width, n}), memory);
    Made<T> factors(mode == QrMode::Raw ? a.shape({least}) : none, memory);
    void* geqrf = blas::routine_for<T>("geqrf");
    void* orgqr = blas::routine_for<T>(is_complex<T> ? "ungqr" : "orgqr");
    auto body = [=, matrices = a.data, to_q = q.data, to_r = r.data,
                 to_factors = factors.data](std::int64_t i) {
        if (m == 0) return true;
        auto columns = buffer<T>(m * std::max(n, width)), tau = buffer<T>(least);
        std::int64_t size = 64 * std::max<std::int64_t>(1, std::max(m, n));
        auto work = buffer<T>(size);
        Info info;
        transpose_into(matrices + i * m * n, m, n, columns.get());
        if (n > 0)
            blas::call(geqrf, m, n, columns.get(), m, tau.get(), work.get(), size, &info.value);
        if (mode == QrMode::Raw) {
            copy_elements(columns.get(), m * n, to_r + i * m * n);
            copy_elements(tau.get(), least, to_factors + i * least);
            return info.ok();
        }
        take_upper(columns.get(), m, width, n, to_r + i * width * n);
        if (!wants_q || width == 0) return info.ok();
        Info formed;
        blas::call(orgqr, m, width, least, columns.get(), m, tau.get(), work.get(), size,
                   &formed.value);
        transpose_into(columns.get(), width, m, to_q + i * m * width);
        return info.ok() && formed.ok();
    };
    std::int64_t failed = for_each_matrix(a.count, std::max(m, n), a.memory, body);
    if (wants_q) return {{q.array, r.array}, failed};
    if (mode == QrMode::Raw) return {{r.array, factors.array}, failed};
    return {{r.array}, failed};
}

}  // namespace

Factors solve(const Array& a, const Array& b) {
    return for_lapack_type(a.dtype(), [&]<class T>() { return solve_typed<T>(a, b); });
}
Factors inverse(const Array& a) {
    return for_lapack_type(a.dtype(), [&]<class T>() { return inverse_typed<T>(a); });
}
Factors determinant(const Array& a) {
    return for_lapack_type(a.dtype(), [&]<class T>() { return determinant_typed<T>(a); });
}
Factors cholesky(const Array& a, bool upper) {
    return for_lapack_type(a.dtype(), [&]<class T>() { return cholesky_typed<T>(a, upper); });
}
Factors qr(const Array& a, QrMode mode) {
    return for_lapack_type(a.dtype(), [&]<class T>() { return qr_typed<T>(a, mode); });
}

}  // namespace unisono::library
