// Singular values, eigenvalues and least squares.
#include <algorithm>
#include <cmath>

#include "library/linalg/lapack.h"
#include "library/linalg/matrix_stack.h"
#include "primitives/primitive.h"

namespace unisono::library {

using primitives::SvdMode;

namespace {

/// Calls a routine twice: the first call, with a size of -1, asks for the work space. `invoke`
/// takes the pointers to real, complex and integer work space and the sizes.
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

template <class T>
std::int64_t svd_typed(const View& in, Views out, SvdMode mode) {
    using Real = real_of<T>;
    const Stack a(in);
    StackCall call(a.operations(32));
    const std::int64_t m = a.rows, n = a.columns, least = std::min(m, n);
    const bool vectors = mode != SvdMode::Values, full = mode == SvdMode::Full;
    const std::int64_t u_columns = full ? m : least, v_rows = full ? n : least;
    T* to_u = vectors ? call.write<T>(out[0]) : nullptr;
    Real* to_s = call.write<Real>(out[vectors ? 1 : 0]);
    T* to_v = vectors ? call.write<T>(out[2]) : nullptr;
    void* gesdd = blas::routine_for<T>("gesdd");
    char job = !vectors ? 'N' : full ? 'A' : 'S';
    auto body = [=, matrices = call.read<T>(in)](std::int64_t i) {
        T* u_out = vectors ? to_u + i * m * u_columns : to_u;
        T* v_out = vectors ? to_v + i * v_rows * n : to_v;
        // The memory is the transposed matrix, whose left vectors are our right ones.
        auto matrix = buffer<T>(m * n);
        std::copy_n(matrices + i * m * n, m * n, matrix.get());
        auto integers = buffer<blas::Int>(8 * least);
        std::int64_t most = std::max(m, n);
        auto reals = buffer<Real>(
            is_complex<T> ? least * std::max(5 * least + 7, 2 * most + 2 * least + 1) : 1);
        WorkSpace<T> space;
        Info info;
        for (int round = 0; round < 2; ++round) {
            if constexpr (is_complex<T>) {
                blas::call(gesdd, job, n, m, matrix.get(), n, to_s + i * least, v_out, n, u_out,
                           vectors ? u_columns : 1, space.work.get(), space.work_size, reals.get(),
                           integers.get(), &info.value);
            } else {
                blas::call(gesdd, job, n, m, matrix.get(), n, to_s + i * least, v_out, n, u_out,
                           vectors ? u_columns : 1, space.work.get(), space.work_size,
                           integers.get(), &info.value);
            }
            if (!info.ok()) return false;
            if (round == 0) space.grow();
        }
        return true;
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
    void* syevd = blas::routine_for<T>(is_complex<T> ? "heevd" : "syevd");
    char job = vectors ? 'V' : 'N', triangle = upper ? 'U' : 'L';
    auto body = [=, matrices = call.read<T>(in)](std::int64_t i) {
        auto matrix = buffer<T>(n * n);
        transpose_into(matrices + i * n * n, n, n, matrix.get());
        WorkSpace<T> space;
        Info info;
        for (int round = 0; round < 2; ++round) {
            auto* w = to_values + i * n;
            if constexpr (is_complex<T>) {
                blas::call(syevd, job, triangle, n, matrix.get(), n, w, space.work.get(),
                           space.work_size, space.real.get(), space.real_size, space.integer.get(),
                           space.integer_size, &info.value);
            } else {
                blas::call(syevd, job, triangle, n, matrix.get(), n, w, space.work.get(),
                           space.work_size, space.integer.get(), space.integer_size, &info.value);
            }
            if (!info.ok()) return false;
            if (round == 0) space.grow();
        }
        if (vectors) transpose_into(matrix.get(), n, n, to + i * n * n);
        return true;
    };
    return call.for_each(a.count, n, body);
}

/// One matrix's complex vectors, packed rows, from pairs of real columns.
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

/// Throws where LAPACK would not come to an end.
template <class T>
void require_finite(const View& in) {
    const auto* x = reinterpret_cast<const real_of<T>*>(in.data());
    const std::int64_t n = in.layout->size() * (is_complex<T> ? 2 : 1);
    if (!std::all_of(x, x + n, [](real_of<T> v) { return std::isfinite(v); }))
        fail(ErrorKind::LinAlg, "eig: Array must not contain infs or NaNs");
}

template <class T>
std::int64_t eig_of_real(const View& in, Views out) {
    using Complex = std::complex<T>;
    const Stack a(in);
    StackCall call(a.operations(64));
    const std::int64_t n = a.rows;
    const bool vectors = out.size() > 1;
    Complex* to_values = call.write<Complex>(out[0]);
    Complex* to = vectors ? call.write<Complex>(out[1]) : nullptr;
    void* geev = blas::routine_for<T>("geev");
    auto body = [=, matrices = call.read<T>(in)](std::int64_t i) {
        auto matrix = buffer<T>(n * n), right = buffer<T>(vectors ? n * n : 1);
        auto real = buffer<T>(n), imaginary = buffer<T>(n);
        transpose_into(matrices + i * n * n, n, n, matrix.get());
        WorkSpace<T> space;
        Info info;
        T unused;
        for (int round = 0; round < 2; ++round) {
            blas::call(geev, 'N', vectors ? 'V' : 'N', n, matrix.get(), n, real.get(),
                       imaginary.get(), &unused, std::int64_t{1}, right.get(), n, space.work.get(),
                       space.work_size, &info.value);
            if (!info.ok()) return false;
            if (round == 0) space.grow();
        }
        for (std::int64_t k = 0; k < n; ++k) {
            const auto at = static_cast<std::size_t>(k);
            to_values[i * n + k] = {real[at], imaginary[at]};
        }
        if (vectors) pair_vectors(right.get(), imaginary.get(), n, to + i * n * n);
        return true;
    };
    return call.for_each(a.count, n, body);
}

template <class T>
std::int64_t eig_of_complex(const View& in, Views out) {
    const Stack a(in);
    StackCall call(a.operations(64));
    const std::int64_t n = a.rows;
    const bool vectors = out.size() > 1;
    T* to_values = call.write<T>(out[0]);
    T* to = vectors ? call.write<T>(out[1]) : nullptr;
    void* geev = blas::routine_for<T>("geev");
    auto body = [=, matrices = call.read<T>(in)](std::int64_t i) {
        auto matrix = buffer<T>(n * n), right = buffer<T>(n * n);
        auto reals = buffer<real_of<T>>(2 * n);
        transpose_into(matrices + i * n * n, n, n, matrix.get());
        WorkSpace<T> space;
        Info info;
        T unused;
        for (int round = 0; round < 2; ++round) {
            blas::call(geev, 'N', vectors ? 'V' : 'N', n, matrix.get(), n, to_values + i * n,
                       &unused, std::int64_t{1}, right.get(), n, space.work.get(), space.work_size,
                       reals.get(), &info.value);
            if (!info.ok()) return false;
            if (round == 0) space.grow();
        }
        if (vectors) transpose_into(right.get(), n, n, to + i * n * n);
        return true;
    };
    return call.for_each(a.count, n, body);
}

template <class T>
std::int64_t lstsq_typed(Views in, Views out, double limit) {
    using Real = real_of<T>;
    const Stack a(in[0]), b(in[1]);
    StackCall call(a.operations(32));
    const std::int64_t m = a.rows, n = a.columns, k = b.columns, most = std::max(m, n);
    void* gelsd = blas::routine_for<T>("gelsd");
    auto body = [=, given_a = call.read<T>(in[0]), given_b = call.read<T>(in[1]),
                 to_x = call.write<T>(out[0]), to_s = call.write<Real>(out[1]),
                 to_rank = call.write<std::int64_t>(out[2])](std::int64_t) {
        auto matrix = buffer<T>(m * n), columns = buffer<T>(most * k);
        transpose_into(given_a, m, n, matrix.get());
        for (std::int64_t r = 0; r < m; ++r) {
            for (std::int64_t c = 0; c < k; ++c)
                columns[static_cast<std::size_t>(c * most + r)] = given_b[r * k + c];
        }
        WorkSpace<T> space;
        Info info;
        blas::Int found = 0;
        auto rcond = static_cast<Real>(limit);
        for (int round = 0; round < 2; ++round) {
            if constexpr (is_complex<T>) {
                blas::call(gelsd, m, n, k, matrix.get(), m, columns.get(), most, to_s, rcond,
                           &found, space.work.get(), space.work_size, space.real.get(),
                           space.integer.get(), &info.value);
            } else {
                blas::call(gelsd, m, n, k, matrix.get(), m, columns.get(), most, to_s, rcond,
                           &found, space.work.get(), space.work_size, space.integer.get(),
                           &info.value);
            }
            if (!info.ok()) return false;
            if (round == 0) space.grow();
        }
        *to_rank = blas::element(&found, 0);
        transpose_into(columns.get(), k, most, to_x);
        return true;
    };
    return call.for_each(1, most, body);
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
        require_finite<T>(in[0]);
        std::int64_t failed;
        if constexpr (is_complex<T>)
            failed = eig_of_complex<T>(in[0], out);
        else
            failed = eig_of_real<T>(in[0], out);
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
