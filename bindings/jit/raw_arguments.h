// Arguments of raw kernels (un.RawKernel) that may be passed as they are.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Adds _raw_types, _raw_place and _raw_launch to the module; returns false with a Python error
/// set.
bool add_raw_arguments(PyObject* module);

}  // namespace unisono::python
