// Copies and fills of OpenCL buffers by the addresses of the driver's functions.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Adds the functions to the module; returns false with a Python error set.
bool add_driver_copies(PyObject* module);

}  // namespace unisono::python
