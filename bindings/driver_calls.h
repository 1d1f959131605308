// Launches of users' OpenCL kernels by the addresses of the driver's functions.
#pragma once

#include <Python.h>

namespace unisono::python {

bool add_driver_calls(PyObject* module);

}  // namespace unisono::python
