// Linear systems, inverses, determinants, Cholesky and QR.
#include "library/linalg/lapack.h"

#include <algorithm>

#include "library/linalg/factor_rows.h"
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
    const Stack a(in);
    StackCall call(a.operations(1));
    const std::int64_t n = a.rows;
    auto body = [=, matrices = call.read<T>(in), to_value = call.write<T>(out[0]),
                 to_sign = call.write<T>(out[1]),
                 to_log = call.write<real_of<T>>(out[2])](std::int64_t i) {
        const Determinant<T> d = determinant_of_rows(n, matrices + i * n * n);
        to_value[i] = d.value;
        to_sign[i] = d.sign;
        to_log[i] = d.logarithm;
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
    auto body = [=, matrices = call.read<T>(in)](std::int64_t i) {
        return qr_of_rows(m, n, mode, matrices + i * m * n, q ? q + i * m * width : nullptr,
                          r + i * (mode == QrMode::Raw ? m : width) * n,
                          factors ? factors + i * least : nullptr);
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
