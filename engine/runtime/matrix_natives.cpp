// Factorisations of one matrix as compiled code calls them (core/native/native.h).
//
// Those of python/unisono/_jit/numpy_linalg.py, matrix_*, get each array as address, number of
// elements and dtype; all arrays are packed rows. Value 0 is 1 where LAPACK gives up.
#include <bit>
#include <complex>

#include "core/dtype.h"
#include "core/native/native.h"
#include "library/linalg/factor_rows.h"
#include "library/linalg/factor_tiles.h"
#include "library/linalg/solve.h"

namespace unisono::library {

namespace {

using primitives::QrMode;
using primitives::SvdMode;

/// Calls f.template operator()<T>(), which says whether it succeeded.
template <class F>
void for_lapack(std::int64_t* values, std::int64_t dtype, F f) noexcept {
    guarded_native(values, [&]() -> std::int64_t {
        switch (static_cast<DType>(dtype)) {
            case DType::Float32: return !f.template operator()<float>();
            case DType::Float64: return !f.template operator()<double>();
            case DType::Complex64: return !f.template operator()<std::complex<float>>();
            case DType::Complex128: return !f.template operator()<std::complex<double>>();
            default: return 1;
        }
    });
}

/// [status, dtype, n, matrix]: replaced by its lower factor.
void native_cholesky(std::int64_t* v) noexcept {
    for_lapack(v, v[1],
               [&]<class T>() { return cholesky_of_rows(false, v[2], native_memory<T>(v[3])); });
}

/// [status, dtype, n, matrix (destroyed), out]: the inverse.
void native_inv(std::int64_t* v) noexcept {
    for_lapack(v, v[1], [&]<class T>() {
        const std::int64_t n = v[2];
        return n == 0 || inverse_of_rows(n, native_memory<T>(v[3]), native_memory<T>(v[4]));
    });
}

/// [status, dtype, n, columns, matrix, right sides]: the latter replaced by the solution.
void native_solve(std::int64_t* v) noexcept {
    for_lapack(v, v[1], [&]<class T>() {
        const std::int64_t n = v[2], k = v[3];
        T* right = native_memory<T>(v[5]);
        return n == 0 || k == 0 || solve_rows(n, k, native_memory<const T>(v[4]), right, right);
    });
}

/// [status, dtype, n, matrix, out]: the determinant, one element.
void native_det(std::int64_t* v) noexcept {
    for_lapack(v, v[1], [&]<class T>() {
        *native_memory<T>(v[4]) = determinant_of_rows(v[2], native_memory<const T>(v[3])).value;
        return true;
    });
}

// ---- matrix_*: an array that begins at value k

template <class T>
T* array_at(const std::int64_t* v, int k) {
    return native_memory<T>(v[k]);
}
/// Null where the array is empty.
template <class T>
T* wanted_at(const std::int64_t* v, int k) {
    return v[k + 1] > 0 ? native_memory<T>(v[k]) : nullptr;
}
std::int64_t dtype_at(const std::int64_t* v, int k) { return v[k + 2]; }

/// [status, n, a, sign and logarithm of the absolute value, one element each].
void lapack_slogdet(std::int64_t* v) noexcept {
    for_lapack(v, dtype_at(v, 2), [&]<class T>() {
        const Determinant<T> d = determinant_of_rows(v[1], array_at<const T>(v, 2));
        *array_at<T>(v, 5) = d.sign;
        *array_at<real_of<T>>(v, 8) = d.logarithm;
        return true;
    });
}

/// [status, m, n, a, q of min(m, n) columns, r].
void lapack_qr(std::int64_t* v) noexcept {
    for_lapack(v, dtype_at(v, 3), [&]<class T>() {
        return qr_of_rows<T>(v[1], v[2], QrMode::Reduced, array_at<const T>(v, 3),
                             array_at<T>(v, 6), array_at<T>(v, 9), nullptr);
    });
}

/// [status, m, n, whether the vectors are whole bases, a, u, values, v_rows]: without vectors where
/// v_rows is empty.
void lapack_svd(std::int64_t* v) noexcept {
    for_lapack(v, dtype_at(v, 4), [&]<class T>() {
        T* const v_rows = wanted_at<T>(v, 13);
        const SvdMode mode = !v_rows ? SvdMode::Values : v[3] ? SvdMode::Full : SvdMode::Reduced;
        return svd_of_rows<T>(v[1], v[2], mode, array_at<const T>(v, 4), array_at<T>(v, 7),
                              array_at<real_of<T>>(v, 10), v_rows);
    });
}

/// [status, n, whether the upper triangle is read, a, values, vectors or an empty array].
void lapack_eigh(std::int64_t* v) noexcept {
    for_lapack(v, dtype_at(v, 3), [&]<class T>() {
        return eigh_of_rows<T>(v[1], v[2] != 0, array_at<const T>(v, 3), array_at<real_of<T>>(v, 6),
                               wanted_at<T>(v, 9));
    });
}

/// [status, n, a, complex values, complex vectors or an empty array].
void lapack_eig(std::int64_t* v) noexcept {
    for_lapack(v, dtype_at(v, 2), [&]<class T>() {
        using Complex = std::complex<real_of<T>>;
        const T* a = array_at<const T>(v, 2);
        return are_finite(v[3], a) &&
               eig_of_rows<T>(v[1], a, array_at<Complex>(v, 5), wanted_at<Complex>(v, 8));
    });
}

/// [status, m, n, k, least singular value of the largest that counts, a, b, x, values, rank].
void lapack_lstsq(std::int64_t* v) noexcept {
    for_lapack(v, dtype_at(v, 5), [&]<class T>() {
        return lstsq_of_rows<T>(v[1], v[2], v[3], std::bit_cast<double>(v[4]),
                                array_at<const T>(v, 5), array_at<const T>(v, 8),
                                array_at<T>(v, 11), array_at<real_of<T>>(v, 14),
                                array_at<std::int64_t>(v, 17));
    });
}

[[maybe_unused]] const bool are_added = add_natives({{"cholesky", native_cholesky},
                                                     {"inv", native_inv},
                                                     {"solve", native_solve},
                                                     {"det", native_det},
                                                     {"lapack_slogdet", lapack_slogdet},
                                                     {"lapack_qr", lapack_qr},
                                                     {"lapack_svd", lapack_svd},
                                                     {"lapack_eigh", lapack_eigh},
                                                     {"lapack_eig", lapack_eig},
                                                     {"lapack_lstsq", lapack_lstsq}});

}  // namespace

}  // namespace unisono::library
