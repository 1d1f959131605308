// Classes that derive from the array type: between them and it comes one class, whose methods give
// results of the derived class (unisono._arrays.subclasses).
#pragma once

#include "array/object.h"

namespace unisono::python {

/// The class between; null until the first class derives from the array type.
extern PyTypeObject* subclass_base;

/// Whether one of the arguments is of a derived class.
inline bool any_subclass(PyObject* const* args, Py_ssize_t n) {
    if (!subclass_base) [[likely]]
        return false;
    for (Py_ssize_t k = 0; k < n; ++k) {
        if (Py_TYPE(args[k]) != array_type && PyObject_TypeCheck(args[k], subclass_base))
            return true;
    }
    return false;
}

/// _subclass_base(): makes the class between where there is none yet.
bool add_subclasses(PyObject* module);

}  // namespace unisono::python
