// C++ text as Python sees it: rows of its functions and classes, around which _jit/cpp_module.py
// writes functions with C's calling convention.
#pragma once

#include <Python.h>

namespace unisono::python {

bool add_cpp_text(PyObject* module);

}  // namespace unisono::python
