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

/// Whether the class is NumPy's array or derives from it; nothing is imported for that.
bool derives_from_numpys(const PyTypeObject* type);
/// Whether it is such an array, and has axes or a class of its own, as quantities with a unit have:
/// numbers of ours beside it leave results NumPy's.
bool is_numpys_with_axes(PyObject* o);

/// Whether it is a class that derives from NumPy's array, as that of masked arrays: then
/// NumPy computes, as the class may give its elements another meaning. Maps of files and arrays of
/// records do not.
bool is_of_numpys(const PyTypeObject* type);
inline bool is_of_numpys(PyObject* o) { return is_of_numpys(Py_TYPE(o)); }

/// Whether one of the arguments is of a derived class, or of another library's class that has
/// NumPy's protocol for elementwise functions.
inline bool any_by_protocol(PyObject* const* args, Py_ssize_t n) {
    for (Py_ssize_t k = 0; k < n; ++k) {
        PyTypeObject* type = Py_TYPE(args[k]);
        if (type == array_type || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || is_scalar(args[k]) ||
            is_value_object(args[k])) [[likely]]
            continue;
        if (has_protocol(args[k])) return true;
    }
    return false;
}

/// Whether the object's class has NumPy's protocol for functions: another library's, or one that
/// derives from the array and overrides it.
bool has_functions(PyObject* o);

/// Whether a list or tuple among the arguments holds an array of a class of NumPy's, or of one that
/// has NumPy's protocol for functions; lists of many are of numbers, and are not looked through.
inline bool any_list_of_numpys(PyObject* const* args, Py_ssize_t n) {
    constexpr Py_ssize_t most = 64;
    for (Py_ssize_t k = 0; k < n; ++k) {
        if (!PyList_CheckExact(args[k]) && !PyTuple_CheckExact(args[k])) [[likely]]
            continue;
        const Py_ssize_t size = PySequence_Fast_GET_SIZE(args[k]);
        if (size > most) continue;
        for (Py_ssize_t i = 0; i < size; ++i) {
            PyObject* const o = PySequence_Fast_GET_ITEM(args[k], i);
            if (!(Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE)) [[likely]]
                continue;
            if (is_of_numpys(o) || has_functions(o)) return true;
        }
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
