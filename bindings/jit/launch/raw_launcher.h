// The type unisono._engine._RawLauncher: what un.RawKernel is called by.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Adds the type to the module; returns false with a Python error set.
bool add_raw_launcher(PyObject* module);

}  // namespace unisono::python
