// The module's functions on arrays.
#pragma once

#include <Python.h>

namespace unisono::python {

bool add_functions(PyObject* module);

}  // namespace unisono::python
