// Calls of C functions whose first arguments were read before.
#pragma once

#include <Python.h>

namespace unisono::python {

bool add_bound_call(PyObject* module);

}  // namespace unisono::python
