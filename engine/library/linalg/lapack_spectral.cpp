// Singular values, eigenvalues and least squares.
#include <cmath>

#include "library/linalg/lapack.h"
#include "library/linalg/matrix_stack.h"

namespace unisono::library {

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
Factors svd_typed(const Array& given, SvdMode mode) {
    using Real = real_of<T>;
    Stack<T> a(given, 32);
    CallMemory* memory = a.memory.get();
    std::int64_t m = a.rows, n = a.columns, least = std::min(m, n);
    bool vectors = mode != SvdMode::Values, full = mode == SvdMode::Full;
    std::int64_t u_columns = full ? m : least, v_rows = full ? n : least;
    std::vector<std::int64_t> none{0};
    Made<T> u(vectors ? a.shape({m, u_columns}) : none, memory);
    Made<T> v(vectors ? a.shape({v_rows, n}) : none, memory);
    Made<Real> s(a.shape({least}), memory);
    void* gesdd = blas::routine_for<T>("gesdd");
    char job = !vectors ? 'N' : full ? 'A' : 'S';
    auto body = [=, matrices = a.data, to_u = u.data, to_v = v.data,
                 to_s = s.data](std::int64_t i) {
        T* u_out = vectors ? to_u + i * m * u_columns : to_u;
        T* v_out = vectors ? to_v + i * v_rows * n : to_v;
        if (least == 0) {
            for (std::int64_t k = 0; full && k < m; ++k) u_out[k * m + k] = T(1);
            for (std::int64_t k = 0; full && k < n; ++k) v_out[k * n + k] = T(1);
            return true;
        }
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
    std::int64_t failed = for_each_matrix(a.count, std::max(m, n), a.memory, body);
    if (!vectors) return {{s.array}, failed};
    return {{u.array, s.array, v.array}, failed};
}

template <class T>
Factors eigh_typed(const Array& given, bool upper, bool vectors) {
    Stack<T> a(given, 16);
    std::int64_t n = a.rows;
    Made<real_of<T>> values(a.shape({n}), a.memory.get());
    Made<T> made(vectors ? a.shape({n, n}) : std::vector<std::int64_t>{0}, a.memory.get());
    void* syevd = blas::routine_for<T>(is_complex<T> ? "heevd" : "syevd");
    char job = vectors ? 'V' : 'N', triangle = upper ? 'U' : 'L';
    auto body = [=, matrices = a.data, to_values = values.data, to = made.data](std::int64_t i) {
        if (n == 0) return true;
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
    std::int64_t failed = for_each_matrix(a.count, n, a.memory, body);
    if (!vectors) return {{values.array}, failed};
    return {{values.array, made.array}, failed};
}

/// Eigenvalues of real matrices as LAPACK gives them, with vectors in packed columns.
template <class T>
struct RealEigen {
    std::shared_ptr<T[]> real, imaginary, vectors;
    std::int64_t failed;
};

template <class T>
RealEigen<T> eig_real(const Stack<T>& a, bool vectors) {
    std::int64_t n = a.rows;
    RealEigen<T> e{buffer<T>(a.count * n), buffer<T>(a.count * n),
                   buffer<T>(vectors ? a.count * n * n : 1), -1};
    void* geev = blas::routine_for<T>("geev");
    auto body = [=, matrices = a.data](std::int64_t i) {
        if (n == 0) return true;
        auto matrix = buffer<T>(n * n);
        transpose_into(matrices + i * n * n, n, n, matrix.get());
        WorkSpace<T> space;
        Info info;
        T unused;
        for (int round = 0; round < 2; ++round) {
            blas::call(geev, 'N', vectors ? 'V' : 'N', n, matrix.get(), n, e.real.get() + i * n,
                       e.imaginary.get() + i * n, &unused, std::int64_t{1},
                       e.vectors.get() + (vectors ? i * n * n : 0), n, space.work.get(),
                       space.work_size, &info.value);
            if (!info.ok()) return false;
            if (round == 0) space.grow();
        }
        return true;
    };
    e.failed = for_each_matrix(a.count, n, a.memory, body);
    return e;
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

template <class T>
Factors eig_typed_real(const Array& given, bool vectors) {
    using Complex = std::complex<T>;
    Stack<T> a(given, 64);
    std::int64_t n = a.rows, all = a.count * n;
    RealEigen<T> e = eig_real(a, vectors);
    std::vector<std::int64_t> none{0};
    bool is_real =
        std::all_of(e.imaginary.get(), e.imaginary.get() + all, [](T x) { return x == 0; });
    if (is_real || e.failed >= 0) {
        Made<T> values(a.shape({n})), made(vectors ? a.shape({n, n}) : none);
        std::copy(e.real.get(), e.real.get() + all, values.data);
        for (std::int64_t i = 0; vectors && i < a.count; ++i)
            transpose_into(e.vectors.get() + i * n * n, n, n, made.data + i * n * n);
        return {{values.array, made.array}, e.failed};
    }
    Made<Complex> values(a.shape({n})), made(vectors ? a.shape({n, n}) : none);
    for (std::int64_t k = 0; k < all; ++k) values.data[k] = {e.real[k], e.imaginary[k]};
    for (std::int64_t i = 0; vectors && i < a.count; ++i)
        pair_vectors(e.vectors.get() + i * n * n, e.imaginary.get() + i * n, n,
                     made.data + i * n * n);
    return {{values.array, made.array}, e.failed};
}

template <class T>
Factors eig_typed_complex(const Array& given, bool vectors) {
    Stack<T> a(given, 64);
    CallMemory* memory = a.memory.get();
    std::int64_t n = a.rows;
    Made<T> values(a.shape({n}), memory);
    Made<T> made(vectors ? a.shape({n, n}) : std::vector<std::int64_t>{0}, memory);
    void* geev = blas::routine_for<T>("geev");
    auto body = [=, matrices = a.data, to_values = values.data, to = made.data](std::int64_t i) {
        if (n == 0) return true;
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
    std::int64_t failed = for_each_matrix(a.count, n, a.memory, body);
    return {{values.array, made.array}, failed};
}

template <class T>
Factors lstsq_typed(const Array& given, const Array& right, double limit) {
    using Real = real_of<T>;
    Stack<T> a(given, 32);
    Stack<T> b(right, a.memory);
    CallMemory* memory = a.memory.get();
    std::int64_t m = a.rows, n = a.columns, k = b.columns, most = std::max(m, n);
    Made<T> x({most, k}, memory);
    Made<Real> s({std::min(m, n)}, memory);
    Made<std::int64_t> rank({}, DType::Int64, memory);
    void* gelsd = blas::routine_for<T>("gelsd");
    auto body = [=, given_a = a.data, given_b = b.data, to_x = x.data, to_s = s.data,
                 to_rank = rank.data](std::int64_t) {
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
    std::int64_t failed = for_each_matrix(1, most, a.memory, body);
    return {{x.array, s.array, rank.array}, failed};
}

}  // namespace

Factors svd(const Array& a, SvdMode mode) {
    return for_lapack_type(a.dtype(), [&]<class T>() { return svd_typed<T>(a, mode); });
}
Factors eigh(const Array& a, bool upper, bool vectors) {
    return for_lapack_type(a.dtype(), [&]<class T>() { return eigh_typed<T>(a, upper, vectors); });
}
Factors eig(const Array& a, bool vectors) {
    return for_lapack_type(a.dtype(), [&]<class T>() {
        if constexpr (is_complex<T>) {
            return eig_typed_complex<T>(a, vectors);
        } else {
            return eig_typed_real<T>(a, vectors);
        }
    });
}
Factors lstsq(const Array& a, const Array& b, double rcond) {
    return for_lapack_type(a.dtype(), [&]<class T>() { return lstsq_typed<T>(a, b, rcond); });
}

}  // namespace unisono::library
