// Factorisations by cuSOLVER.
#include <algorithm>
#include <limits>

#include "backends/cuda/libraries/libraries.h"
#include "core/error.h"

namespace unisono::cuda {

namespace {

int fill(bool upper) { return upper ? fill_upper : fill_lower; }
int integer(std::int64_t n) {
    if (n <= std::numeric_limits<int>::max()) return static_cast<int>(n);
    fail(ErrorKind::Unsupported, "linalg: a matrix is too large for cuSOLVER; got " +
                                     std::to_string(n) +
                                     " rows or columns; expected at most 2^31 - 1");
}
int* numbers(const LibraryVector& v) { return static_cast<int*>(address_of(v, DType::Int32)); }

}  // namespace

DeviceFactors* CudaLibraries::factors(DType t) {
    const bool has = PerType<int>::has(t) && solver_api(driver_) && solver_handle(device_.here());
    return has ? this : nullptr;
}

/// size(api, handle, count) asks for elements, run(api, handle, work, count) computes.
template <class Size, class Run>
void CudaLibraries::factor(const char* name, DType t, Size&& size, Run&& run) {
    const SolverApi& api = *solver_api(driver_);
    const SolverHandle handle = solver_handle(device_.here());
    int count = 0;
    {
        const CudaDevice::Entered entered(device_);
        check(size(api, handle, &count), name);
    }
    const CallMemory work(device_, std::max<std::int64_t>(1, count) * size_of(t));
    submit(name, [&](Stream stream) {
        check(api.set_stream(handle, stream), "cusolverDnSetStream");
        check(run(api, handle, work.address(), count), name);
    });
}

void CudaLibraries::potrf(DType t, bool upper, std::int64_t rows, LibraryVector a,
                          LibraryVector info) {
    const int n = integer(rows), uplo = fill(upper);
    void* at = address_of(a, t);
    factor(
        "cusolverDnpotrf", t,
        [&](const SolverApi& api, SolverHandle handle, int* size) {
            return api.potrf_size[t](handle, uplo, n, at, n, size);
        },
        [&](const SolverApi& api, SolverHandle handle, void* work, int size) {
            return api.potrf[t](handle, uplo, n, at, n, work, size, numbers(info));
        });
}

void CudaLibraries::getrf(DType t, std::int64_t rows, LibraryVector a, LibraryVector pivots,
                          LibraryVector info) {
    const int n = integer(rows);
    void* at = address_of(a, t);
    factor(
        "cusolverDngetrf", t,
        [&](const SolverApi& api, SolverHandle handle, int* size) {
            return api.getrf_size[t](handle, n, n, at, n, size);
        },
        [&](const SolverApi& api, SolverHandle handle, void* work, int) {
            return api.getrf[t](handle, n, n, at, n, work, numbers(pivots), numbers(info));
        });
}

void CudaLibraries::getrs(DType t, bool transposed, std::int64_t rows, std::int64_t sides,
                          LibraryVector a, LibraryVector pivots, LibraryVector b,
                          LibraryVector info) {
    const SolverApi& api = *solver_api(driver_);
    const SolverHandle handle = solver_handle(device_.here());
    const int n = integer(rows), columns = integer(sides);
    submit("cusolverDngetrs", [&](Stream stream) {
        check(api.set_stream(handle, stream), "cusolverDnSetStream");
        check(
            api.getrs[t](handle, transposed ? op_transposed : op_plain, n, columns,
                         address_of(a, t), n, numbers(pivots), address_of(b, t), n, numbers(info)),
            "cusolverDngetrs");
    });
}

void CudaLibraries::geqrf(DType t, std::int64_t rows, std::int64_t columns, LibraryVector a,
                          LibraryVector tau, LibraryVector info) {
    const int m = integer(rows), n = integer(columns);
    void* at = address_of(a, t);
    factor(
        "cusolverDngeqrf", t,
        [&](const SolverApi& api, SolverHandle handle, int* size) {
            return api.geqrf_size[t](handle, m, n, at, m, size);
        },
        [&](const SolverApi& api, SolverHandle handle, void* work, int size) {
            return api.geqrf[t](handle, m, n, at, m, address_of(tau, t), work, size, numbers(info));
        });
}

void CudaLibraries::orgqr(DType t, std::int64_t rows, std::int64_t columns, std::int64_t reflectors,
                          LibraryVector a, LibraryVector tau, LibraryVector info) {
    const int m = integer(rows), n = integer(columns), k = integer(reflectors);
    void* at = address_of(a, t);
    factor(
        "cusolverDnorgqr", t,
        [&](const SolverApi& api, SolverHandle handle, int* size) {
            return api.orgqr_size[t](handle, m, n, k, at, m, address_of(tau, t), size);
        },
        [&](const SolverApi& api, SolverHandle handle, void* work, int size) {
            return api.orgqr[t](handle, m, n, k, at, m, address_of(tau, t), work, size,
                                numbers(info));
        });
}

void CudaLibraries::gesvd(DType t, char job, std::int64_t rows, std::int64_t columns,
                          LibraryVector a, LibraryVector s, LibraryVector u, LibraryVector vt,
                          LibraryVector info) {
    const int m = integer(rows), n = integer(columns);
    const auto which = static_cast<signed char>(job);
    const int vt_rows = n;
    // Complex numbers need real ones beside their own memory.
    const CallMemory real(device_, std::max<std::int64_t>(1, 5 * columns) * size_of(part_dtype(t)));
    factor(
        "cusolverDngesvd", t,
        [&](const SolverApi& api, SolverHandle handle, int* size) {
            return api.gesvd_size[t](handle, m, n, size);
        },
        [&](const SolverApi& api, SolverHandle handle, void* work, int size) {
            return api.gesvd[t](handle, which, which, m, n, address_of(a, t), m,
                                address_of(s, part_dtype(t)), address_of(u, t), m,
                                address_of(vt, t), vt_rows, work, size, real.address(),
                                numbers(info));
        });
}

void CudaLibraries::syevd(DType t, bool vectors, bool upper, std::int64_t rows, LibraryVector a,
                          LibraryVector values, LibraryVector info) {
    const int n = integer(rows), uplo = fill(upper);
    void *at = address_of(a, t), *found = address_of(values, part_dtype(t));
    factor(
        "cusolverDnsyevd", t,
        [&](const SolverApi& api, SolverHandle handle, int* size) {
            return api.syevd_size[t](handle, vectors, uplo, n, at, n, found, size);
        },
        [&](const SolverApi& api, SolverHandle handle, void* work, int size) {
            return api.syevd[t](handle, vectors, uplo, n, at, n, found, work, size, numbers(info));
        });
}

}  // namespace unisono::cuda
