// The type unisono._engine._KnownCalls: the base of ElementwiseKernel and ReductionKernel.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Adds the type to the module; returns false with a Python error set.
bool add_known_calls(PyObject* module);

}  // namespace unisono::python
