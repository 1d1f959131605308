// Random numbers for Python.
#pragma once

#include <Python.h>

namespace unisono::python {

bool add_random(PyObject* module);

}  // namespace unisono::python
