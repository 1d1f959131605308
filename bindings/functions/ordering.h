// Functions that order, search, scan and count: what unisono's _sorting, _statistics and _sets
// call.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Adds the functions to the module; false with a Python error set.
bool add_order_functions(PyObject* module);

}  // namespace unisono::python
