// The type unisono._engine._ItemLoops: calls of functions over items of arrays, by loops that are
// compiled already.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Adds the type to the module; returns false with a Python error set.
bool add_item_loops(PyObject* module);

}  // namespace unisono::python
