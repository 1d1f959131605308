// Rows of the table of primitives that stand in front of functions written in Python.
#pragma once

#include <Python.h>

namespace unisono::python {

bool add_row_front(PyObject* module);

}  // namespace unisono::python
