// C functions that were compiled before: with other forms, stored for another process, and made
// again.
#pragma once

#include <Python.h>

namespace unisono::python {

bool add_c_native(PyObject* module);

}  // namespace unisono::python
