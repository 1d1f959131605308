// Calls of C functions that take addresses of what Python holds.
#pragma once

#include <Python.h>

namespace unisono::python {

bool add_address_call(PyObject* module);

}  // namespace unisono::python
