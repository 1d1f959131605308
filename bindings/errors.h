// Turns the engine's errors into Python exceptions.
#pragma once

#include <Python.h>

#include <cxxabi.h>

#include <atomic>

#include "core/error.h"

namespace unisono::python {

/// The Python class of errors of that kind; borrowed.
PyObject* class_of(ErrorKind kind);

/// Adds the exception classes to the module; returns false with a Python error set.
bool add_errors(PyObject* module);

/// Of an error that is an exception of a class of its own.
struct PythonDetail : ErrorDetail {
    virtual void set_exception() const = 0;
};

/// Adds a note to the Python error that is set.
void add_note(const std::string& text) noexcept;

/// Sets the Python error for e: class by kind, message, and a note with the place where there is
/// one.
void set_error(const Error& e) noexcept;

/// Sets the Python error for the exception being handled (call inside catch (...)).
void set_current_error() noexcept;

/// Of a thread whose interpreter is gone, or has begun to go: it stays here until the process ends.
[[noreturn]] void wait_for_exit() noexcept;

/// Whether the interpreter is gone for this thread, which is not the main one.
bool is_left_behind() noexcept;

/// Set behind the interpreter's end; asking the interpreter itself would cost each call 12 ns.
extern std::atomic<bool> is_over;

/// Lets go of the interpreter's lock. This and the next are part of each quick call.
inline PyThreadState* release_thread() noexcept { return PyEval_SaveThread(); }

/// Takes the interpreter's lock again. Once the interpreter is going, the thread stays here until
/// the process ends: CPython ends it by unwinding, which C++ frames turn into the end of the
/// process.
inline void restore_thread(PyThreadState* state) noexcept {
    // Behind its end the interpreter would let the thread go on.
    if (is_over.load(std::memory_order_relaxed) && is_left_behind()) [[unlikely]]
        wait_for_exit();
    try {
        PyEval_RestoreThread(state);
    } catch (const abi::__forced_unwind&) {
        wait_for_exit();
    }
}

/// Set when the interpreter begins to end: from then on it ends other threads that ask for its lock
/// by unwinding them.
extern std::atomic<bool> is_ending;

/// Of a thread that is unwound so: it stays here until the process ends, since without the lock it
/// may release nothing.
void stay_if_left_behind() noexcept;

/// Runs f, which may throw; on an exception sets the Python error and returns `failed`.
template <class R, class F>
R guarded(R failed, F&& f) noexcept {
    try {
        return f();
    } catch (...) {
        set_current_error();
        return failed;
    }
}

/// Thrown by binding code after a Python call that failed: the Python error is already set.
struct PythonError {};

}  // namespace unisono::python
