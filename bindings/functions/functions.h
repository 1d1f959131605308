// The module's functions on arrays.
#pragma once

#include <Python.h>

namespace unisono::python {

bool add_functions(PyObject* module);

/// What un.array and un.asarray do, all arguments given (or None). Throws.
PyObject* make_array(PyObject* x, PyObject* dtype, PyObject* device, PyObject* copy);

}  // namespace unisono::python
