// Elementwise functions as objects.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Adds the type ufunc and one object for each row of ops.def to the module.
bool add_ufuncs(PyObject* module);

}  // namespace unisono::python
