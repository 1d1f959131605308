// References to Python objects that end with their scope, and Python errors as exceptions.
#pragma once

#include <Python.h>

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

}  // namespace unisono::python
