// What the files of LAPACK share: stacks of matrices, columns-first copies, and a loop over them.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/limits.h"
#include "core/threads/interrupt.h"
#include "core/threads/parallel.h"
#include "core/threads/run_abandonable.h"
#include "library/linalg/blas.h"
#include "library/linalg/call_memory.h"
#include "library/linalg/factor_rows.h"
#include "primitives/row.h"

namespace unisono::library {

/// Calls f.template operator()<T>() for the four types of LAPACK.
template <class F>
void for_lapack_type(DType t, F&& f) {
    if (t == DType::Float64) return f.template operator()<double>();
    if (t == DType::Float32) return f.template operator()<float>();
    if (t == DType::Complex64) return f.template operator()<std::complex<float>>();
    f.template operator()<std::complex<double>>();
}

/// Copies on all threads.
template <class T>
void copy_elements(const T* from, std::int64_t n, T* to) {
    if (n <= limits::thread_operations) {  // a loop would ask whether to stop
        std::copy(from, from + n, to);
        return;
    }
    parallel_for(0, n, limits::thread_operations, [&](std::int64_t first, std::int64_t last) {
        std::copy(from + first, from + last, to + first);
    });
}

/// A packed operand as a stack of rows x columns matrices.
struct Stack {
    std::int64_t count = 1, rows, columns;
    explicit Stack(const View& v) {
        const Dims shape = v.layout->shape();
        rows = shape[shape.size() - 2];
        columns = shape[shape.size() - 1];
        for (std::size_t k = 0; k + 2 < shape.size(); ++k) count *= shape[k];
    }
    /// Multiply-adds of a routine that makes so many passes over a matrix, in units of rows *
    /// columns * the lesser of both.
    double operations(double passes) const {
        return passes * static_cast<double>(std::min(rows, columns)) * static_cast<double>(rows) *
               static_cast<double>(columns);
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

/// One call of routines over stacks of matrices. Where one matrix may take so long that Ctrl-C
/// should not wait for it, the routine works on memory of its own and may be abandoned.
class StackCall {
  public:
    /// `operations`: multiply-adds for one matrix.
    explicit StackCall(double operations) {
        if (operations > limits::abandonable_operations && CancelScope::current())
            memory_ = std::make_shared<CallMemory>();
    }
    template <class T>
    const T* read(const View& v) {
        const T* data = reinterpret_cast<const T*>(v.data());
        if (!memory_) return data;
        const std::int64_t n = v.layout->size();
        auto* copied = static_cast<T*>(memory_->allocate(n * std::int64_t{sizeof(T)}, nullptr));
        copy_elements(data, n, copied);
        return copied;
    }
    template <class T>
    T* write(const View& v) {
        if (!memory_) return reinterpret_cast<T*>(v.data());
        return static_cast<T*>(memory_->allocate(v.layout->size() * std::int64_t{sizeof(T)}, &v));
    }

    /// Calls body(i), which returns whether matrix i succeeded, over the stack on all threads.
    /// Returns the first that failed, or -1. Ctrl-C is heard between matrices and, in calls that
    /// may be abandoned, inside of them: body is then copied and may run on after the interrupt, so
    /// it holds nothing by reference.
    template <class F>
    std::int64_t for_each(std::int64_t count, std::int64_t edge, F body) {
        const double size = static_cast<double>(edge);
        const double work = std::max(1.0, size * size * size);
        const double least = static_cast<double>(limits::thread_matrix_operations);
        const auto grain = static_cast<std::int64_t>(std::max(1.0, least / work));
        auto outcome = std::make_shared<StackOutcome>();
        if (memory_) {
            auto job = [=, memory = memory_]() mutable { run_stack(count, grain, body, *outcome); };
            run_abandonable(
                job, [](void* scope) { return static_cast<CancelScope*>(scope)->stops(); },
                CancelScope::current());
        } else {
            run_stack(count, grain, body, *outcome);
        }
        try {
            if (outcome->thrown) std::rethrow_exception(outcome->thrown);
        } catch (const std::bad_alloc&) {
            fail(ErrorKind::Memory, "linalg: no memory for the work space of LAPACK");
        }
        if (memory_) memory_->hand_over();
        return outcome->failed == StackOutcome::none ? -1 : outcome->failed.load();
    }

  private:
    std::shared_ptr<CallMemory> memory_;
};

/// Throws where a matrix of the stack failed.
inline void require_none_failed(std::string_view what, const View& stack, std::int64_t failed,
                                const char* failure = "Singular matrix") {
    if (failed < 0) return;
    std::string text = std::string(what) + ": " + failure;
    if (stack.layout->rank() > 2) text += "; matrix " + std::to_string(failed) + " of the stack";
    fail(ErrorKind::LinAlg, text);
}

}  // namespace unisono::library
