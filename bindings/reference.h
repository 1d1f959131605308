// References to Python objects that end with their scope, and Python errors as exceptions.
#pragma once

#include <Python.h>

#include <cstdint>

#include "errors.h"

namespace unisono::python {

[[noreturn]] inline void python_failed() { throw PythonError{}; }

/// A strong reference that is dropped at the end of the scope.
struct Ref {
    PyObject* p;
    explicit Ref(PyObject* given) : p(given) {}
    Ref(const Ref&) = delete;
    Ref& operator=(const Ref&) = delete;
    ~Ref() { Py_XDECREF(p); }
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
