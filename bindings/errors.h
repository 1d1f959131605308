// Turns the engine's errors into Python exceptions.
#pragma once

#include <Python.h>

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

/// Lets go of the interpreter's lock.
PyThreadState* release_thread() noexcept;

/// Takes the interpreter's lock again. Once the interpreter is going, the thread stays here until
/// the process ends: CPython ends it by unwinding, which C++ frames turn into the end of the
/// process.
void restore_thread(PyThreadState* state) noexcept;

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
