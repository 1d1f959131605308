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
#include "primitives/primitive.h"

namespace unisono::library {

using primitives::QrMode;

namespace {

template <class T>
std::int64_t solve_typed(Views in, const View& out) {
    const Stack a(in[0]), b(in[1]);
    const std::int64_t n = a.rows, k = b.columns;
    StackCall call(a.operations(1 + static_cast<double>(k) / static_cast<double>(n)));
    auto body = [=, matrices = call.read<T>(in[0]), sides = call.read<T>(in[1]),
                 to = call.write<T>(out)](std::int64_t i) {
        return solve_rows(n, k, matrices + i * n * n, sides + i * n * k, to + i * n * k);
    };
    return call.for_each(a.count, n, body);
}

template <class T>
std::int64_t inverse_typed(const View& in, const View& out) {
    const Stack a(in);
    StackCall call(a.operations(3));
    const std::int64_t n = a.rows;
    auto body = [=, matrices = call.read<T>(in), to = call.write<T>(out)](std::int64_t i) {
        auto rows = buffer<T>(n * n);
        copy_elements(matrices + i * n * n, n * n, rows.get());
        return inverse_of_rows(n, rows.get(), to + i * n * n);
    };
    return call.for_each(a.count, n, body);
}

template <class T>
void determinant_typed(const View& in, Views out) {
    using Real = real_of<T>;
    const Stack a(in);
    StackCall call(a.operations(1));
    const std::int64_t n = a.rows;
    void* getrf = blas::routine_for<T>("getrf");
    auto body = [=, matrices = call.read<T>(in), to_det = call.write<T>(out[0]),
                 to_sign = call.write<T>(out[1]),
                 to_log = call.write<Real>(out[2])](std::int64_t i) {
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
    call.for_each(a.count, n, body);
}

template <class T>
std::int64_t cholesky_typed(const View& in, const View& out, bool upper) {
    const Stack a(in);
    StackCall call(a.operations(1));
    const std::int64_t n = a.rows;
    auto body = [=, matrices = call.read<T>(in), to = call.write<T>(out)](std::int64_t i) {
        T* m = to + i * n * n;
        copy_elements(matrices + i * n * n, n * n, m);
        return cholesky_of_rows(upper, n, m);
    };
    return call.for_each(a.count, n, body);
}

/// The upper triangle of packed columns of height m as rows x n packed rows.
template <class T>
void take_upper(const T* columns, std::int64_t m, std::int64_t rows, std::int64_t n, T* to) {
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < n; ++c) to[r * n + c] = c < r ? T(0) : columns[c * m + r];
    }
}

template <class T>
void qr_typed(const View& in, Views out, QrMode mode) {
    const Stack a(in);
    StackCall call(a.operations(4));
    const std::int64_t m = a.rows, n = a.columns, least = std::min(m, n);
    const bool wants_q = mode == QrMode::Reduced || mode == QrMode::Complete;
    const std::int64_t width = mode == QrMode::Complete ? m : least;
    T* q = wants_q ? call.write<T>(out[0]) : nullptr;
    T* r = call.write<T>(out[wants_q ? 1 : 0]);
    T* factors = mode == QrMode::Raw ? call.write<T>(out[1]) : nullptr;
    void* geqrf = blas::routine_for<T>("geqrf");
    void* orgqr = blas::routine_for<T>(is_complex<T> ? "ungqr" : "orgqr");
    auto body = [=, matrices = call.read<T>(in)](std::int64_t i) {
        auto columns = buffer<T>(m * std::max(n, width)), tau = buffer<T>(least);
        std::int64_t size = 64 * std::max<std::int64_t>(1, std::max(m, n));
        auto work = buffer<T>(size);
        Info info;
        transpose_into(matrices + i * m * n, m, n, columns.get());
        if (n > 0)
            blas::call(geqrf, m, n, columns.get(), m, tau.get(), work.get(), size, &info.value);
        if (mode == QrMode::Raw) {
            copy_elements(columns.get(), m * n, r + i * m * n);
            copy_elements(tau.get(), least, factors + i * least);
            return info.ok();
        }
        take_upper(columns.get(), m, width, n, r + i * width * n);
        if (!wants_q || width == 0) return info.ok();
        Info formed;
        blas::call(orgqr, m, width, least, columns.get(), m, tau.get(), work.get(), size,
                   &formed.value);
        transpose_into(columns.get(), width, m, q + i * m * width);
        return info.ok() && formed.ok();
    };
    call.for_each(a.count, std::max(m, n), body);
}

}  // namespace

void host::solve(const NoAttributes&, Views in, Views out) {
    for_lapack_type(in[0].dtype, [&]<class T>() {
        require_none_failed("solve", in[0], solve_typed<T>(in, out[0]));
    });
}

void host::inv(const NoAttributes&, Views in, Views out) {
    for_lapack_type(in[0].dtype, [&]<class T>() {
        require_none_failed("inv", in[0], inverse_typed<T>(in[0], out[0]));
    });
}

void host::det(const NoAttributes&, Views in, Views out) {
    for_lapack_type(in[0].dtype, [&]<class T>() { determinant_typed<T>(in[0], out); });
}

void host::cholesky(const primitives::Triangle& triangle, Views in, Views out) {
    for_lapack_type(in[0].dtype, [&]<class T>() {
        const std::int64_t failed = cholesky_typed<T>(in[0], out[0], triangle.upper);
        require_none_failed("cholesky", in[0], failed, "Matrix is not positive definite");
    });
}

void host::qr(const primitives::Orthogonal& orthogonal, Views in, Views out) {
    for_lapack_type(in[0].dtype, [&]<class T>() { qr_typed<T>(in[0], out, orthogonal.mode); });
}

Array checked_matrices(const Array& a) {
    const DType part = part_dtype(a.dtype());
    if (part != DType::Float32 && part != DType::Float64) {
        fail(ErrorKind::Type, "linalg: array type " + std::string(name(a.dtype())) +
                                  " is unsupported in linalg; convert to float32 or float64 first");
    }
    return packed(a);
}

Array solve(const Array& a, const Array& b) {
    const Array in[] = {checked_matrices(a), checked_matrices(b)};
    return call(primitives::solve, in, {});
}
Array inverse(const Array& a) {
    const Array in[] = {checked_matrices(a)};
    return call(primitives::inv, in, {});
}
std::vector<Array> determinant(const Array& a) {
    const Array in[] = {checked_matrices(a)};
    return call_wide(primitives::det, in, {});
}
Array cholesky(const Array& a, bool upper) {
    const Array in[] = {checked_matrices(a)};
    return call(primitives::cholesky, in, {upper});
}
std::vector<Array> qr(const Array& a, QrMode mode) {
    const Array in[] = {checked_matrices(a)};
    return call_wide(primitives::qr, in, {mode});
}

}  // namespace unisono::library
