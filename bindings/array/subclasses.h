// Classes that derive from the array type: between them and it comes one class, whose methods give
// results of the derived class (unisono._arrays.subclasses).
#pragma once

#include "array/object.h"

namespace unisono::python {

/// The class between; null until the first class derives from the array type.
extern PyTypeObject* subclass_base;

/// Whether a class that Python made computes NumPy's functions: by the protocol, or by its
/// operators and methods as SciPy's sparse matrices, which are no arrays for NumPy.
bool has_protocol(PyObject* o);

/// Whether one of the arguments is of a derived class, or of another library's class that has
/// NumPy's protocol for elementwise functions.
inline bool any_by_protocol(PyObject* const* args, Py_ssize_t n) {
    for (Py_ssize_t k = 0; k < n; ++k) {
        PyTypeObject* type = Py_TYPE(args[k]);
        if (type == array_type || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) [[likely]]
            continue;
        if (has_protocol(args[k])) return true;
    }
    return false;
}

/// function(first, *args, **named); null with a Python error.
PyObject* call_with(PyObject* function, PyObject* first, PyObject* const* args, Py_ssize_t n,
                    PyObject* names) noexcept;
/// The same of unisono._arrays.subclasses's function of that name.
PyObject* call_by_protocol(const char* name, PyObject* first, PyObject* const* args, Py_ssize_t n,
                           PyObject* names) noexcept;

/// _subclass_base(): makes the class between where there is none yet.
bool add_subclasses(PyObject* module);

}  // namespace unisono::python
