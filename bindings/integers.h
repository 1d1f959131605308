// Which Python objects count as one integer.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Whether an object is one integer, and not an array of them, which has the same slot.
bool is_one_integer(PyObject* o);

}  // namespace unisono::python
