// NVIDIA's libraries that are used (cuBLAS, cuSOLVER, cuFFT, cuRAND), loaded at run time.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "backends/cuda/api.h"
#include "backends/vendor_library.h"
#include "core/dtype.h"

namespace unisono::cuda {

/// A routine for float32, float64, complex64, complex128.
template <class F>
class PerType {
  public:
    F operator[](DType t) const { return of_[index(t)]; }
    static bool has(DType t) {
        return t == DType::Float32 || t == DType::Float64 || t == DType::Complex64 ||
               t == DType::Complex128;
    }
    std::array<F, 4> of_{};

  private:
    static std::size_t index(DType t) {
        return (t == DType::Float64 || t == DType::Complex128 ? 1u : 0u) +
               (t == DType::Complex64 || t == DType::Complex128 ? 2u : 0u);
    }
};

// Types of elements do not matter for how a routine is called: numbers come by address.
using Status = int;
using BlasHandle = struct BlasObject*;
using SolverHandle = struct SolverObject*;

inline constexpr int op_plain = 0, op_transposed = 1;  // cublasOperation_t
inline constexpr int fill_lower = 0, fill_upper = 1;   // cublasFillMode_t
inline constexpr int fft_forward = -1, fft_backward = 1;

struct BlasApi {
    Library library;
    Status (*create)(BlasHandle* handle) = nullptr;
    Status (*set_stream)(BlasHandle handle, Stream stream) = nullptr;
    Status (*set_workspace)(BlasHandle handle, void* memory, std::size_t bytes) = nullptr;
    PerType<Status (*)(BlasHandle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                       const void* a, int lda, const void* b, int ldb, const void* beta, void* c,
                       int ldc)>
        gemm;
    PerType<Status (*)(BlasHandle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                       const void* a, int lda, long long step_a, const void* b, int ldb,
                       long long step_b, const void* beta, void* c, int ldc, long long step_c,
                       int count)>
        gemm_batched;
    PerType<Status (*)(BlasHandle, int op, int m, int n, const void* alpha, const void* a, int lda,
                       const void* x, int incx, const void* beta, void* y, int incy)>
        gemv;
};

struct SolverApi {
    Library library;
    Status (*create)(SolverHandle* handle) = nullptr;
    Status (*set_stream)(SolverHandle handle, Stream stream) = nullptr;
    PerType<Status (*)(SolverHandle, int uplo, int n, void* a, int lda, int* size)> potrf_size;
    PerType<Status (*)(SolverHandle, int uplo, int n, void* a, int lda, void* work, int size,
                       int* info)>
        potrf;
    PerType<Status (*)(SolverHandle, int m, int n, void* a, int lda, int* size)> getrf_size;
    PerType<Status (*)(SolverHandle, int m, int n, void* a, int lda, void* work, int* pivots,
                       int* info)>
        getrf;
    PerType<Status (*)(SolverHandle, int op, int n, int sides, const void* a, int lda,
                       const int* pivots, void* b, int ldb, int* info)>
        getrs;
    PerType<Status (*)(SolverHandle, int m, int n, void* a, int lda, int* size)> geqrf_size;
    PerType<Status (*)(SolverHandle, int m, int n, void* a, int lda, void* tau, void* work,
                       int size, int* info)>
        geqrf;
    PerType<Status (*)(SolverHandle, int m, int n, int k, const void* a, int lda, const void* tau,
                       int* size)>
        orgqr_size;
    PerType<Status (*)(SolverHandle, int m, int n, int k, void* a, int lda, const void* tau,
                       void* work, int size, int* info)>
        orgqr;
    PerType<Status (*)(SolverHandle, int m, int n, int* size)> gesvd_size;
    PerType<Status (*)(SolverHandle, signed char job_u, signed char job_vt, int m, int n, void* a,
                       int lda, void* s, void* u, int ldu, void* vt, int ldvt, void* work, int size,
                       void* real_work, int* info)>
        gesvd;
    PerType<Status (*)(SolverHandle, int vectors, int uplo, int n, const void* a, int lda,
                       const void* values, int* size)>
        syevd_size;
    PerType<Status (*)(SolverHandle, int vectors, int uplo, int n, void* a, int lda, void* values,
                       void* work, int size, int* info)>
        syevd;
};

using FftPlan = int;
struct FftApi {
    Library library;
    Status (*create)(FftPlan* plan) = nullptr;
    Status (*destroy)(FftPlan plan) = nullptr;
    Status (*set_stream)(FftPlan plan, Stream stream) = nullptr;
    Status (*set_auto_allocation)(FftPlan plan, int automatic) = nullptr;
    Status (*make_plan)(FftPlan plan, int rank, long long* lengths, long long* from_extents,
                        long long from_stride, long long from_step, long long* to_extents,
                        long long to_stride, long long to_step, int type, long long count,
                        std::size_t* bytes) = nullptr;
    Status (*set_work_area)(FftPlan plan, void* memory) = nullptr;
    /// Complex to complex, real to complex, complex to real; in float32, then in float64.
    Status (*complex[2])(FftPlan plan, void* from, void* to, int direction) = {};
    Status (*to_complex[2])(FftPlan plan, void* from, void* to) = {};
    Status (*to_real[2])(FftPlan plan, void* from, void* to) = {};
};

using RandomHandle = struct RandomObject*;
struct RandomApi {
    Library library;
    Status (*create)(RandomHandle* handle, int type) = nullptr;
    Status (*set_stream)(RandomHandle handle, Stream stream) = nullptr;
    Status (*set_seed)(RandomHandle handle, unsigned long long seed) = nullptr;
    Status (*set_offset)(RandomHandle handle, unsigned long long offset) = nullptr;
    Status (*uniform_single)(RandomHandle handle, void* to, std::size_t count) = nullptr;
    Status (*uniform_double)(RandomHandle handle, void* to, std::size_t count) = nullptr;
    Status (*normal_single)(RandomHandle handle, void* to, std::size_t count, float mean,
                            float deviation) = nullptr;
    Status (*normal_double)(RandomHandle handle, void* to, std::size_t count, double mean,
                            double deviation) = nullptr;
};

/// Null where the library is missing, or is for newer drivers than this one (12040 is 12.4).
const BlasApi* blas_api(int driver);
const SolverApi* solver_api(int driver);
const FftApi* fft_api(int driver);
const RandomApi* random_api(int driver);
/// One line each.
std::vector<std::string> library_reports(int driver);

}  // namespace unisono::cuda
