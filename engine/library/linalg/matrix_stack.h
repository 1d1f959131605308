// What the files of LAPACK share: stacks of matrices, columns-first copies, and a loop over them.
#pragma once

#include <algorithm>
#include <atomic>
#include <complex>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "core/error.h"
#include "core/limits.h"
#include "core/threads/interrupt.h"
#include "core/threads/parallel.h"
#include "core/threads/run_abandonable.h"
#include "library/linalg/blas.h"
#include "library/linalg/call_memory.h"
#include "library/linalg/lapack.h"
#include "primitives/primitive.h"
#include "tape/outside_engine.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono::library {

template <class T>
struct RealOf {
    using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
    using type = T;
};
template <class T>
using real_of = typename RealOf<T>::type;
template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, real_of<T>>;

inline DType dtype_named(const char* name) {
    bool found = false;
    DType t = dtype_from_name(name, found);
    if (!found)
        fail(ErrorKind::Unsupported,
             std::string("linalg: the result is complex, and dtype ") + name + " is not supported");
    return t;
}
template <class T>
DType dtype_for() {
    if constexpr (std::is_same_v<T, float>) return DType::Float32;
    if constexpr (std::is_same_v<T, double>) return DType::Float64;
    if constexpr (std::is_same_v<T, std::complex<float>>) return dtype_named("complex64");
    if constexpr (std::is_same_v<T, std::complex<double>>) return dtype_named("complex128");
}

/// Calls f.template operator()<T>() for the four types of LAPACK.
template <class F>
Factors for_lapack_type(DType t, F&& f) {
    if (t == DType::Float64) return f.template operator()<double>();
    if (t == DType::Float32) return f.template operator()<float>();
    if (name(t) == "complex64") return f.template operator()<std::complex<float>>();
    if (name(t) == "complex128") return f.template operator()<std::complex<double>>();
    fail(ErrorKind::Type, "linalg: array type " + std::string(name(t)) +
                              " is unsupported in linalg; convert to float32 or float64 first");
}

/// Copies on all threads.
template <class T>
void copy_elements(const T* from, std::int64_t n, T* to) {
    parallel_for(0, n, limits::thread_operations, [&](std::int64_t first, std::int64_t last) {
        std::copy(from + first, from + last, to + first);
    });
}

/// A packed array whose contents are valid, as a stack of rows x columns matrices.
template <class T>
struct Stack {
    Array array;
    const T* data;
    std::int64_t count, rows, columns;
    /// Of calls in which one matrix may take so long that Ctrl-C should not wait for it, else null.
    /// The elements are then copied there.
    std::shared_ptr<CallMemory> memory;

    /// `passes`: multiply-adds of the routine, in units of rows * columns * the lesser of both.
    Stack(const Array& a, double passes) : Stack(a, std::shared_ptr<CallMemory>()) {
        const HostHooks& hooks = Tape::current().hooks;
        const double least = static_cast<double>(std::min(rows, columns));
        const double operations =
            passes * least * static_cast<double>(rows) * static_cast<double>(columns);
        if (count > 0 && operations > limits::abandonable_operations && hooks.leave_engine &&
            hooks.interrupted)
            hold(std::make_shared<CallMemory>());
    }
    /// A second operand of the same call.
    Stack(const Array& a, std::shared_ptr<CallMemory> shared) : array(packed(a)) {
        data = reinterpret_cast<const T*>(host_data(array, false));
        Dims shape = array.shape();
        rows = shape[shape.size() - 2];
        columns = shape[shape.size() - 1];
        count = 1;
        for (std::size_t k = 0; k + 2 < shape.size(); ++k) count *= shape[k];
        if (shared) hold(std::move(shared));
    }
    const T* matrix(std::int64_t i) const { return data + i * rows * columns; }
    /// The leading axes, then those given.
    std::vector<std::int64_t> shape(std::initializer_list<std::int64_t> last) const {
        std::vector<std::int64_t> s(array.shape().begin(), array.shape().end() - 2);
        s.insert(s.end(), last);
        return s;
    }

  private:
    void hold(std::shared_ptr<CallMemory> shared) {
        memory = std::move(shared);
        const std::int64_t n = count * rows * columns;
        auto* copied =
            static_cast<T*>(memory->allocate(n * static_cast<std::int64_t>(sizeof(T)), nullptr));
        copy_elements(data, n, copied);
        data = copied;
    }
};

/// A new array with memory, which is the call's until its end where there is a CallMemory.
template <class T>
struct Made {
    Array array;
    T* data;
    explicit Made(const std::vector<std::int64_t>& shape, CallMemory* memory = nullptr)
        : Made(shape, dtype_for<T>(), memory) {}
    Made(const std::vector<std::int64_t>& shape, DType t, CallMemory* memory)
        : array(empty(shape, t, nullptr)) {
        Storage* storage = array.view().storage;
        if (memory) {
            data = static_cast<T*>(memory->allocate(storage->bytes, storage));
        } else {
            storage->allocate();
            data = reinterpret_cast<T*>(array.view().data());
        }
    }
};

/// to[column][row] = from[row][column]: packed rows to packed columns, and back with swapped
/// extents.
template <class T>
void transpose_into(const T* from, std::int64_t rows, std::int64_t columns, T* to) {
    constexpr std::int64_t block = 16;
    for (std::int64_t i0 = 0; i0 < rows; i0 += block) {
        for (std::int64_t j0 = 0; j0 < columns; j0 += block) {
            for (std::int64_t i = i0; i < std::min(rows, i0 + block); ++i) {
                for (std::int64_t j = j0; j < std::min(columns, j0 + block); ++j)
                    to[j * rows + i] = from[i * columns + j];
            }
        }
    }
}

/// Scratch memory of one matrix.
template <class T>
using Buffer = std::unique_ptr<T[]>;
template <class T>
Buffer<T> buffer(std::int64_t n) {
    return std::make_unique<T[]>(static_cast<std::size_t>(std::max<std::int64_t>(1, n)));
}

/// What LAPACK answered: its integer may have 32 bits.
struct Info {
    blas::Int value = 0;
    bool ok() const { return blas::element(&value, 0) == 0; }
};

/// How the matrices of a stack fared.
struct StackOutcome {
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    std::atomic<std::int64_t> failed{none};  ///< the first that LAPACK gave up on
    std::exception_ptr thrown;               ///< by a body: passed on in the engine
};

template <class F>
void run_stack(std::int64_t count, std::int64_t grain, F& body, StackOutcome& outcome) {
    std::once_flag first_thrown;
    auto keep = [&] {
        std::call_once(first_thrown, [&] { outcome.thrown = std::current_exception(); });
    };
    auto run = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            bool ok = false;
            try {
                ok = body(i);
            } catch (...) {
                keep();
            }
            std::int64_t before = outcome.failed;
            while (!ok && i < before && !outcome.failed.compare_exchange_weak(before, i)) {
            }
        }
    };
    try {
        parallel_for(0, count, grain, run);
    } catch (...) {  // Ctrl-C between matrices
        keep();
    }
}

/// Calls body(i), which returns whether matrix i succeeded, over the stack on all threads and
/// outside of the engine. Returns the first that failed, or -1. Ctrl-C is heard between matrices
/// and, where there is a `memory`, inside of them: body is then copied and may run on after the
/// interrupt, so it holds nothing by reference, and no array.
template <class F>
std::int64_t for_each_matrix(std::int64_t count, std::int64_t edge,
                             const std::shared_ptr<CallMemory>& memory, F body) {
    const double size = static_cast<double>(edge);
    const double work = std::max(1.0, size * size * size);
    const double least = static_cast<double>(limits::thread_matrix_operations);
    const auto grain = static_cast<std::int64_t>(std::max(1.0, least / work));
    const HostHooks& hooks = Tape::current().hooks;
    auto outcome = std::make_shared<StackOutcome>();
    if (!hooks.leave_engine || static_cast<double>(count) * work <= least) {
        run_stack(count, grain, body, *outcome);
    } else {
        OutsideEngine outside(hooks);
        if (memory) {
            auto job = [=]() mutable { run_stack(count, grain, body, *outcome); };
            run_abandonable([job, memory]() mutable { job(); }, OutsideEngine::interrupted,
                            &outside);
        } else {
            CancelScope cancel(OutsideEngine::interrupted, &outside);
            run_stack(count, grain, body, *outcome);
        }
    }
    try {
        if (outcome->thrown) std::rethrow_exception(outcome->thrown);
    } catch (const std::bad_alloc&) {
        fail(ErrorKind::Memory, "linalg: no memory for the work space of LAPACK");
    }
    if (memory) memory->hand_over();
    return outcome->failed == StackOutcome::none ? -1 : outcome->failed.load();
}

}  // namespace unisono::library
