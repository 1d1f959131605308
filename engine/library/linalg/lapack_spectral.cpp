// Singular values, eigenvalues and least squares.
#include <algorithm>

#include "library/linalg/factor_rows.h"
#include "library/linalg/lapack.h"
#include "library/linalg/matrix_stack.h"
#include "primitives/primitive.h"

namespace unisono::library {

using primitives::SvdMode;

namespace {

template <class T>
std::int64_t svd_typed(const View& in, Views out, SvdMode mode) {
    const Stack a(in);
    StackCall call(a.operations(32));
    const std::int64_t m = a.rows, n = a.columns, least = std::min(m, n);
    const bool vectors = mode != SvdMode::Values, full = mode == SvdMode::Full;
    const std::int64_t u_columns = full ? m : least, v_rows = full ? n : least;
    T* to_u = vectors ? call.write<T>(out[0]) : nullptr;
    auto* to_s = call.write<real_of<T>>(out[vectors ? 1 : 0]);
    T* to_v = vectors ? call.write<T>(out[2]) : nullptr;
    auto body = [=, matrices = call.read<T>(in)](std::int64_t i) {
        return svd_of_rows(m, n, mode, matrices + i * m * n,
                           vectors ? to_u + i * m * u_columns : nullptr, to_s + i * least,
                           vectors ? to_v + i * v_rows * n : nullptr);
    };
    return call.for_each(a.count, std::max(m, n), body);
}

template <class T>
std::int64_t eigh_typed(const View& in, Views out, bool upper) {
    const Stack a(in);
    StackCall call(a.operations(16));
    const std::int64_t n = a.rows;
    const bool vectors = out.size() > 1;
    auto* to_values = call.write<real_of<T>>(out[0]);
    T* to = vectors ? call.write<T>(out[1]) : nullptr;
    auto body = [=, matrices = call.read<T>(in)](std::int64_t i) {
        return eigh_of_rows(n, upper, matrices + i * n * n, to_values + i * n,
                            vectors ? to + i * n * n : nullptr);
    };
    return call.for_each(a.count, n, body);
}

template <class T>
std::int64_t eig_typed(const View& in, Views out) {
    using Complex = std::complex<real_of<T>>;
    if (!are_finite(in.layout->size(), reinterpret_cast<const T*>(in.data())))
        fail(ErrorKind::LinAlg, "eig: Array must not contain infs or NaNs");
    const Stack a(in);
    StackCall call(a.operations(64));
    const std::int64_t n = a.rows;
    const bool vectors = out.size() > 1;
    Complex* to_values = call.write<Complex>(out[0]);
    Complex* to = vectors ? call.write<Complex>(out[1]) : nullptr;
    auto body = [=, matrices = call.read<T>(in)](std::int64_t i) {
        return eig_of_rows(n, matrices + i * n * n, to_values + i * n,
                           vectors ? to + i * n * n : nullptr);
    };
    return call.for_each(a.count, n, body);
}

template <class T>
std::int64_t lstsq_typed(Views in, Views out, double limit) {
    const Stack a(in[0]), b(in[1]);
    StackCall call(a.operations(32));
    const std::int64_t m = a.rows, n = a.columns, k = b.columns;
    auto body = [=, given_a = call.read<T>(in[0]), given_b = call.read<T>(in[1]),
                 to_x = call.write<T>(out[0]), to_s = call.write<real_of<T>>(out[1]),
                 to_rank = call.write<std::int64_t>(out[2])](std::int64_t) {
        return lstsq_of_rows(m, n, k, limit, given_a, given_b, to_x, to_s, to_rank);
    };
    return call.for_each(1, std::max(m, n), body);
}

}  // namespace

void host::svd(const primitives::SingularValues& values, Views in, Views out) {
    for_lapack_type(in[0].dtype, [&]<class T>() {
        const std::int64_t failed = svd_typed<T>(in[0], out, values.mode);
        require_none_failed("svd", in[0], failed, "SVD did not converge");
    });
}

void host::eigh(const primitives::SymmetricEigen& eigen, Views in, Views out) {
    for_lapack_type(in[0].dtype, [&]<class T>() {
        const std::int64_t failed = eigh_typed<T>(in[0], out, eigen.upper);
        require_none_failed("eigh", in[0], failed, "Eigenvalues did not converge");
    });
}

void host::eig(const primitives::Eigen&, Views in, Views out) {
    for_lapack_type(in[0].dtype, [&]<class T>() {
        const std::int64_t failed = eig_typed<T>(in[0], out);
        require_none_failed("eig", in[0], failed, "Eigenvalues did not converge");
    });
}

void host::lstsq(const primitives::LeastSquares& squares, Views in, Views out) {
    for_lapack_type(in[0].dtype, [&]<class T>() {
        const std::int64_t failed = lstsq_typed<T>(in, out, squares.rcond);
        require_none_failed("lstsq", in[0], failed, "SVD did not converge in Linear Least Squares");
    });
}

std::vector<Array> svd(const Array& a, SvdMode mode) {
    const Array in[] = {checked_matrices(a)};
    return call_wide(primitives::svd, in, {mode});
}
std::vector<Array> eigh(const Array& a, bool upper, bool vectors) {
    const Array in[] = {checked_matrices(a)};
    return call_wide(primitives::eigh, in, {upper, vectors});
}
std::vector<Array> eig(const Array& a, bool vectors) {
    const Array in[] = {checked_matrices(a)};
    return call_wide(primitives::eig, in, {vectors});
}
std::vector<Array> lstsq(const Array& a, const Array& b, double rcond) {
    const Array in[] = {checked_matrices(a), checked_matrices(b)};
    return call_wide(primitives::lstsq, in, {rcond});
}

}  // namespace unisono::library
