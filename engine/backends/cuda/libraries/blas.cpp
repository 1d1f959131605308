// Products of matrices by cuBLAS.
#include <complex>
#include <limits>

#include "backends/cuda/libraries/libraries.h"

namespace unisono::cuda {

namespace {

constexpr std::int64_t most = std::numeric_limits<int>::max();

/// 0 and 1 as numbers of a dtype, and their addresses.
struct Constants {
    std::complex<float> zero_single{0, 0}, one_single{1, 0};
    std::complex<double> zero_double{0, 0}, one_double{1, 0};
    // A real number lies where a complex one begins.
    static const Constants& get() {
        static constexpr Constants all;
        return all;
    }
    const void* zero(DType t) const {
        return part_dtype(t) == DType::Float32 ? static_cast<const void*>(&zero_single)
                                               : &zero_double;
    }
    const void* one(DType t) const {
        return part_dtype(t) == DType::Float32 ? static_cast<const void*>(&one_single)
                                               : &one_double;
    }
};

struct Operand {
    void* address;
    int leading, op;
    long long step;
    Operand(const LibraryMatrix& m, DType t)
        : address(address_of(m.memory, m.first, t)),
          leading(static_cast<int>(m.leading)),
          op(m.is_transposed ? op_transposed : op_plain),
          step(m.step) {}
};

/// NVIDIA's advice for all devices is 4 MiB, and 32 MiB for the largest.
constexpr std::int64_t workspace_bytes = std::int64_t{4} << 20;

}  // namespace

bool CudaLibraries::multiply(const LibraryProduct& p) {
    if (!PerType<int>::has(p.dtype)) return false;
    for (const std::int64_t n : {p.m, p.n, p.k, p.count, p.a.leading, p.b.leading, p.c.leading}) {
        if (n < 1 || n > most) return false;
    }
    const BlasApi* api = blas_api(driver_);
    if (!api) return false;
    const DType t = p.dtype;
    const Operand a(p.a, t), b(p.b, t), c(p.c, t);
    const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
    const void *zero = Constants::get().zero(t), *one = Constants::get().one(t);
    const BlasHandle handle = blas_handle(device_.here());
    if (!handle) return false;
    const CallMemory work(device_, workspace_bytes);
    auto start = [&](Stream stream) {
        check(api->set_stream(handle, stream), "cublasSetStream");
        // Behind the stream: setting that takes the workspace back.
        check(api->set_workspace(handle, work.address(), workspace_bytes), "cublasSetWorkspace");
    };
    if (p.count > 1) {
        submit("cublasGemmStridedBatched", [&](Stream stream) {
            start(stream);
            check(api->gemm_batched[t](handle, a.op, b.op, m, n, k, one, a.address, a.leading,
                                       a.step, b.address, b.leading, b.step, zero, c.address,
                                       c.leading, c.step, static_cast<int>(p.count)),
                  "cublasGemmStridedBatched");
        });
    } else if (n == 1) {  // c = op(a) @ b
        submit("cublasGemv", [&](Stream stream) {
            start(stream);
            check(api->gemv[t](handle, a.op, a.op == op_plain ? m : k, a.op == op_plain ? k : m,
                               one, a.address, a.leading, b.address,
                               b.op == op_plain ? 1 : b.leading, zero, c.address, 1),
                  "cublasGemv");
        });
    } else if (m == 1) {  // c^T = op(b)^T @ a^T
        submit("cublasGemv", [&](Stream stream) {
            start(stream);
            const bool is_plain = b.op == op_plain;
            check(api->gemv[t](handle, is_plain ? op_transposed : op_plain, is_plain ? k : n,
                               is_plain ? n : k, one, b.address, b.leading, a.address,
                               a.op == op_plain ? a.leading : 1, zero, c.address, c.leading),
                  "cublasGemv");
        });
    } else {
        submit("cublasGemm", [&](Stream stream) {
            start(stream);
            check(api->gemm[t](handle, a.op, b.op, m, n, k, one, a.address, a.leading, b.address,
                               b.leading, zero, c.address, c.leading),
                  "cublasGemm");
        });
    }
    return true;
}

}  // namespace unisono::cuda
