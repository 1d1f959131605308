// The tables of unisono/python.h.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Adds the capsule that un_import() looks for.
bool add_c_interface(PyObject* module);

}  // namespace unisono::python
