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
#include "core/threads/parallel.h"
#include "library/call.h"
#include "library/linalg/blas.h"
#include "library/linalg/lapack.h"
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
             std::string("linalg: the result is complex, and dtype ") + name + " is not there");
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

/// A packed array whose contents are valid, as a stack of rows x columns matrices.
template <class T>
struct Stack {
    Array array;
    const T* data;
    std::int64_t count, rows, columns;

    explicit Stack(const Array& a) : array(packed(a)) {
        data = reinterpret_cast<const T*>(host_data(array, false));
        Dims shape = array.shape();
        rows = shape[shape.size() - 2];
        columns = shape[shape.size() - 1];
        count = 1;
        for (std::size_t k = 0; k + 2 < shape.size(); ++k) count *= shape[k];
    }
    const T* matrix(std::int64_t i) const { return data + i * rows * columns; }
    /// The leading axes, then those given.
    std::vector<std::int64_t> shape(std::initializer_list<std::int64_t> last) const {
        std::vector<std::int64_t> s(array.shape().begin(), array.shape().end() - 2);
        s.insert(s.end(), last);
        return s;
    }
};

/// A new array with memory.
template <class T>
struct Made {
    Array array;
    T* data;
    explicit Made(const std::vector<std::int64_t>& shape) : Made(shape, dtype_for<T>()) {}
    Made(const std::vector<std::int64_t>& shape, DType t) : array(empty(shape, t, nullptr)) {
        array.view().storage->allocate();
        data = reinterpret_cast<T*>(array.view().data());
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

/// Calls body(i), which returns whether matrix i succeeded, over the stack on all threads and
/// without the engine's lock. Returns the first that failed, or -1.
template <class F>
std::int64_t for_each_matrix(std::int64_t count, std::int64_t edge, F&& body) {
    constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
    std::int64_t work = std::max<std::int64_t>(1, edge * edge * edge);
    std::atomic<std::int64_t> failed{all};
    std::exception_ptr thrown;  // by the body: passed on once the engine's lock is held again
    std::once_flag first_thrown;
    const HostHooks& hooks = Tape::instance().hooks;
    bool leaves = hooks.leave_engine && count * work > limits::thread_matrix_operations;
    void* state = leaves ? hooks.leave_engine() : nullptr;
    parallel_for(0, count, std::max<std::int64_t>(1, limits::thread_matrix_operations / work),
                 [&](std::int64_t first, std::int64_t last) {
                     for (std::int64_t i = first; i < last; ++i) {
                         bool ok = false;
                         try {
                             ok = body(i);
                         } catch (...) {
                             std::call_once(first_thrown,
                                            [&] { thrown = std::current_exception(); });
                         }
                         std::int64_t before = failed;
                         while (!ok && i < before && !failed.compare_exchange_weak(before, i)) {
                         }
                     }
                 });
    if (leaves) hooks.enter_engine(state);
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
        fail(ErrorKind::Memory, "linalg: no memory for the work space of LAPACK");
    }
    return failed == all ? -1 : failed.load();
}

}  // namespace unisono::library
