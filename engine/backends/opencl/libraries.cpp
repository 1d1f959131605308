// Products of matrices by CLBlast, which is loaded at the first product that may use it.
#include "backends/opencl/libraries.h"

#include <limits>

#include "backends/opencl/device.h"
#include "backends/vendor_library.h"
#include "core/error.h"

namespace unisono::opencl {

namespace {

constexpr int by_columns = 102, op_plain = 111, op_transposed = 112;  // CLBlastLayout, ..Transpose

/// Gemm and GemmStridedBatched of one dtype. Numbers go by value.
template <class T>
struct Routines {
    int (*gemm)(int layout, int op_a, int op_b, std::size_t m, std::size_t n, std::size_t k,
                T alpha, cl_mem a, std::size_t a_first, std::size_t lda, cl_mem b,
                std::size_t b_first, std::size_t ldb, T beta, cl_mem c, std::size_t c_first,
                std::size_t ldc, cl_command_queue* queue, cl_event* event) = nullptr;
    int (*stack)(int layout, int op_a, int op_b, std::size_t m, std::size_t n, std::size_t k,
                 T alpha, cl_mem a, std::size_t a_first, std::size_t lda, std::size_t a_step,
                 cl_mem b, std::size_t b_first, std::size_t ldb, std::size_t b_step, T beta,
                 cl_mem c, std::size_t c_first, std::size_t ldc, std::size_t c_step,
                 std::size_t count, cl_command_queue* queue, cl_event* event) = nullptr;
};

struct Blast {
    Library library;
    Routines<cl_float> single;
    Routines<cl_double> real;
    Routines<cl_float2> complex_single;
    Routines<cl_double2> complex_real;
};

const Blast& blast() {
    static const Blast loaded = [] {
        Blast b;
        const char* const names[] = {"libclblast.so.1"};
        b.library = open_library(names);
        LibraryFunctions functions(b.library);
        auto find = [&](const std::string& letter, auto& routines) {
            functions.find("CLBlast" + letter + "gemm", routines.gemm);
            functions.find("CLBlast" + letter + "gemmStridedBatched", routines.stack);
        };
        find("S", b.single);
        find("D", b.real);
        find("C", b.complex_single);
        find("Z", b.complex_real);
        return b;
    }();
    return loaded;
}

/// A matrix as the library takes it.
struct Operand {
    cl_mem memory;
    int op;
    std::size_t first, leading, step;
    explicit Operand(const LibraryMatrix& m)
        : memory(reinterpret_cast<cl_mem>(m.memory.handle)),
          op(m.is_transposed ? op_transposed : op_plain),
          first(static_cast<std::size_t>(m.first)),
          leading(static_cast<std::size_t>(m.leading)),
          step(static_cast<std::size_t>(m.step)) {}
};

/// Its kernels count elements in 32 bits.
bool fits(const LibraryMatrix& m, std::int64_t rows, std::int64_t columns, std::int64_t count) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const std::int64_t lines = m.is_transposed ? rows : columns;
    for (const std::int64_t n : {m.first, m.leading, m.step, lines, count}) {
        if (n > most) return false;
    }
    if (m.leading > most / lines || m.step > most / count) return false;
    return m.first + m.leading * lines + m.step * count <= most;
}

template <class T>
int call(const Routines<T>& routines, const LibraryProduct& p, T one, cl_command_queue queue,
         cl_event* event) {
    const Operand a(p.a), b(p.b), c(p.c);
    const auto m = static_cast<std::size_t>(p.m), n = static_cast<std::size_t>(p.n),
               k = static_cast<std::size_t>(p.k);
    if (p.count == 1)
        return routines.gemm(by_columns, a.op, b.op, m, n, k, one, a.memory, a.first, a.leading,
                             b.memory, b.first, b.leading, T{}, c.memory, c.first, c.leading,
                             &queue, event);
    return routines.stack(by_columns, a.op, b.op, m, n, k, one, a.memory, a.first, a.leading,
                          a.step, b.memory, b.first, b.leading, b.step, T{}, c.memory, c.first,
                          c.leading, c.step, static_cast<std::size_t>(p.count), &queue, event);
}

int call(const LibraryProduct& p, cl_command_queue queue, cl_event* event) {
    switch (p.dtype) {
        case DType::Float32: return call(blast().single, p, 1.0F, queue, event);
        case DType::Float64: return call(blast().real, p, 1.0, queue, event);
        case DType::Complex64:
            return call(blast().complex_single, p, cl_float2{{1, 0}}, queue, event);
        default: return call(blast().complex_real, p, cl_double2{{1, 0}}, queue, event);
    }
}

}  // namespace

std::vector<std::string> OpenCLLibraries::report() { return {"CLBlast: " + blast().library.text}; }

bool OpenCLLibraries::are_wanted() const {
    if (device_.info().kind == "cpu" && !libraries_are_named()) return false;
    return work_ && blast().library.handle;
}

bool OpenCLLibraries::multiply(const LibraryProduct& p) {
    const bool has = p.dtype == DType::Float32 || p.dtype == DType::Float64 ||
                     p.dtype == DType::Complex64 || p.dtype == DType::Complex128;
    // Products with vectors are bound by memory.
    if (!has || p.m < 2 || p.n < 2 || !fits(p.a, p.m, p.k, p.count) ||
        !fits(p.b, p.k, p.n, p.count) || !fits(p.c, p.m, p.n, p.count))
        return false;
    OpenCLQueue& q = device_.here();
    int status = CL_SUCCESS;
    q.submit("CLBlast", [&](cl_uint n, const cl_event* after, cl_event* event) {
        // The library's first command waits for none: what it comes behind holds up the queue.
        const cl_int code =
            n == 0 ? CL_SUCCESS : api().clEnqueueBarrierWithWaitList(q.handle(), n, after, nullptr);
        if (code == CL_SUCCESS) status = call(p, q.handle(), event);
        return code;
    });
    if (status != CL_SUCCESS) note_failure(status);
    return status == CL_SUCCESS;
}

/// A library that nobody named and that does not work on the device is as good as absent.
void OpenCLLibraries::note_failure(int status) {
    if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY)
        device_.check(status, "CLBlastGemm");
    if (libraries_are_named())
        fail(ErrorKind::Device, "device '" + device_.info().name +
                                    "': CLBlastGemm failed; got status " + std::to_string(status) +
                                    "; UNISONO_DEVICE_LIBRARIES=none computes without the library");
    work_ = false;
}

DeviceLibraries* OpenCLDevice::libraries() {
    return libraries_.are_wanted() ? &libraries_ : nullptr;
}

}  // namespace unisono::opencl
