// References to Python objects that end with their scope, and Python errors as exceptions.
#pragma once

#include <Python.h>

#include <cstdint>
#include <utility>

#include "errors.h"

namespace unisono::python {

[[noreturn]] inline void python_failed() { throw PythonError{}; }

/// A strong reference to a Python object, dropped at the end of the scope; it moves.
struct Ref {
    PyObject* p = nullptr;

    Ref() = default;
    explicit Ref(PyObject* stolen) : p(stolen) {}
    static Ref of(PyObject* borrowed) { return Ref(Py_XNewRef(borrowed)); }
    Ref(Ref&& o) noexcept : p(std::exchange(o.p, nullptr)) {}
    Ref& operator=(Ref&& o) noexcept {
        std::swap(p, o.p);
        return *this;
    }
    ~Ref() {
        if (!p) return;
        if (is_ending.load(std::memory_order_relaxed)) [[unlikely]]
            stay_if_left_behind();
        Py_DECREF(p);
    }
    PyObject* get() const { return p; }
    PyObject* release() { return std::exchange(p, nullptr); }
    explicit operator bool() const { return p != nullptr; }
};

/// A module, or what it has by the name, kept for good in a place that is null before the first
/// call; borrowed, null with a Python error. The place is no local static that Python's code sets:
/// a thread at the guard of one would hold the interpreter's lock, which the thread that sets it
/// waits for.
inline PyObject* kept(PyObject*& place, const char* module, const char* name = nullptr) {
    if (place) [[likely]]
        return place;
    Ref found(PyImport_ImportModule(module));
    if (found && name) found = Ref(PyObject_GetAttrString(found.get(), name));
    if (!place) place = found.release();  // another thread may have been here meanwhile
    return place;
}

/// While one lives, its thread has let go of the interpreter's lock.
class WithoutLock {
  public:
    WithoutLock() : state_(release_thread()) {}
    ~WithoutLock() { restore_thread(state_); }
    WithoutLock(const WithoutLock&) = delete;
    WithoutLock& operator=(const WithoutLock&) = delete;

  private:
    PyThreadState* state_;
};

/// The value of an exact int of few digits, as almost every index is; false for any other.
inline bool small_integer(PyObject* o, std::int64_t& value) {
    auto* number = reinterpret_cast<PyLongObject*>(o);
#if PY_VERSION_HEX >= 0x030C0000
    if (!PyLong_CheckExact(o) || !PyUnstable_Long_IsCompact(number)) return false;
    value = PyUnstable_Long_CompactValue(number);
#else
    const Py_ssize_t digits = Py_SIZE(o);  // negative where the number is
    if (!PyLong_CheckExact(o) || digits > 1 || digits < -1) return false;
    value = digits * static_cast<std::int64_t>(number->ob_digit[0]);
#endif
    return true;
}

}  // namespace unisono::python
