// A cuBLAS for tests: products by plain loops, with all arguments checked.
//
// Stricter than NVIDIA's: each call needs a workspace that was set behind its stream.
#include <mutex>

#include "cuda_driver/libraries/library.h"

namespace {

using namespace cuda_libraries;
constexpr Codes codes{7, 13};  // CUBLAS_STATUS_INVALID_VALUE, CUBLAS_STATUS_EXECUTION_FAILED

struct Handle : Bound {
    void* workspace = nullptr;
    std::int64_t workspace_bytes = 0;
};
std::mutex mutex;
std::set<Handle*>& handles() {
    static auto& all = *new std::set<Handle*>;
    return all;
}

Handle* find(void* handle) {
    std::lock_guard lock(mutex);
    auto* h = static_cast<Handle*>(handle);
    return handles().contains(h) ? h : nullptr;
}

template <class T>
struct Operand {
    const T* at;
    int rows, columns, leading;  ///< as it lies
    bool is_transposed;
    long long step = 0;
    T operator()(long long matrix, int row, int column) const {
        if (is_transposed) std::swap(row, column);
        return at[matrix * step + row + static_cast<std::int64_t>(column) * leading];
    }
    Use use(int count) const {
        return {at, extent(rows, columns, leading, sizeof(T)) +
                        (count - 1) * step * static_cast<std::int64_t>(sizeof(T))};
    }
    bool is_wrong() const {
        return rows < 0 || columns < 0 || leading < std::max(1, rows) || step < 0;
    }
};

template <class T>
int multiply(const char* what, void* handle, int op_a, int op_b, int m, int n, int k,
             const void* alpha, const void* a, int lda, long long step_a, const void* b, int ldb,
             long long step_b, const void* beta, void* c, int ldc, long long step_c, int count) {
    Handle* h = find(handle);
    if (!h) return violation(1, std::string(what) + ": no handle");
    if (op_a < 0 || op_a > 1 || op_b < 0 || op_b > 1 || count < 1)
        return violation(codes.wrong, std::string(what) + ": a wrong operation or count");
    const Operand<T> x{
        static_cast<const T*>(a), op_a ? k : m, op_a ? m : k, lda, op_a != 0, step_a};
    const Operand<T> y{
        static_cast<const T*>(b), op_b ? n : k, op_b ? k : n, ldb, op_b != 0, step_b};
    const Operand<T> z{static_cast<const T*>(c), m, n, ldc, false, step_c};
    if (x.is_wrong() || y.is_wrong() || z.is_wrong())
        return violation(codes.wrong, std::string(what) + ": a wrong size or leading dimension");
    if (count > 1 && step_c < static_cast<long long>(ldc) * (n - 1) + m)
        return violation(codes.wrong, std::string(what) + ": results overlap");
    if (*static_cast<const T*>(alpha) != T(1) || *static_cast<const T*>(beta) != T(0))
        return violation(codes.wrong, std::string(what) + ": expected alpha 1 and beta 0");
    if (!h->workspace) return violation(codes.wrong, std::string(what) + ": no workspace was set");
    Use written = z.use(count);
    written.writes = true;
    return submit(
        codes, what, *h,
        {x.use(count), y.use(count), written, {h->workspace, h->workspace_bytes, true}}, [=] {
            for (int matrix = 0; matrix < count; ++matrix) {
                for (int j = 0; j < n; ++j) {
                    for (int i = 0; i < m; ++i) {
                        T sum(0);
                        for (int l = 0; l < k; ++l) sum += x(matrix, i, l) * y(matrix, l, j);
                        static_cast<T*>(
                            c)[matrix * step_c + i + static_cast<std::int64_t>(j) * ldc] = sum;
                    }
                }
            }
        });
}

}  // namespace

extern "C" {

int cublasCreate_v2(void** made) {
    void* context = current_context();
    if (!context) return violation(1, "cublasCreate: no context is current");
    auto* h = new Handle;
    h->context = context;
    std::lock_guard lock(mutex);
    handles().insert(h);
    *made = h;
    return 0;
}

int cublasSetStream_v2(void* handle, void* stream) {
    Handle* h = find(handle);
    if (!h) return violation(1, "cublasSetStream: no handle");
    h->stream = stream;
    h->has_stream = true;
    h->workspace = nullptr;
    return 0;
}

int cublasSetWorkspace_v2(void* handle, void* memory, std::size_t bytes) {
    Handle* h = find(handle);
    if (!h) return violation(1, "cublasSetWorkspace: no handle");
    if (reinterpret_cast<std::uintptr_t>(memory) % 256)
        return violation(codes.wrong, "cublasSetWorkspace: the memory is not aligned to 256 bytes");
    h->workspace = memory;
    h->workspace_bytes = static_cast<std::int64_t>(bytes);
    return 0;
}

#define UNISONO_CUBLAS(letter, T)                                                                  \
    int cublas##letter##gemm_v2(void* handle, int op_a, int op_b, int m, int n, int k,             \
                                const void* alpha, const void* a, int lda, const void* b, int ldb, \
                                const void* beta, void* c, int ldc) {                              \
        return multiply<T>("cublas" #letter "gemm", handle, op_a, op_b, m, n, k, alpha, a, lda, 0, \
                           b, ldb, 0, beta, c, ldc, 0, 1);                                         \
    }                                                                                              \
    int cublas##letter##gemmStridedBatched(                                                        \
        void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a,   \
        int lda, long long step_a, const void* b, int ldb, long long step_b, const void* beta,     \
        void* c, int ldc, long long step_c, int count) {                                           \
        return multiply<T>("cublas" #letter "gemmStridedBatched", handle, op_a, op_b, m, n, k,     \
                           alpha, a, lda, step_a, b, ldb, step_b, beta, c, ldc, step_c, count);    \
    }                                                                                              \
    int cublas##letter##gemv_v2(void* handle, int op, int m, int n, const void* alpha,             \
                                const void* a, int lda, const void* x, int incx, const void* beta, \
                                void* y, int incy) {                                               \
        if (incx < 1 || incy < 1)                                                                  \
            return violation(codes.wrong, "cublas" #letter "gemv: a wrong increment");             \
        /* Elements that lie apart are a row of a matrix; the result's, too. */                    \
        const int rows = op ? n : m, columns = op ? m : n;                                         \
        return multiply<T>("cublas" #letter "gemv", handle, 0, op ? 0 : 1, 1, rows, columns,       \
                           alpha, x, incx, 0, a, lda, 0, beta, y, incy, 0, 1);                     \
    }
UNISONO_CUBLAS(S, float)
UNISONO_CUBLAS(D, double)
UNISONO_CUBLAS(C, std::complex<float>)
UNISONO_CUBLAS(Z, std::complex<double>)

}  // extern "C"
