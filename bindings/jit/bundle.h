// Code of modules built ahead of time, for Python.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Adds the functions to the module; returns false with a Python error set.
bool add_bundles(PyObject* module);

}  // namespace unisono::python
