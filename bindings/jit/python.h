// Blocks of Python in compiled functions, and exceptions of programs.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Adds _python_block and _exception to the module; returns false with a Python error set.
bool add_python_blocks(PyObject* module);

}  // namespace unisono::python
