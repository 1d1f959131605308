// The functions behind python/unisono/_arrays/indexing.py and manipulation.py.
#pragma once

#include <Python.h>

namespace unisono::python {

bool add_selection(PyObject* module);
/// A tuple with the indices of the elements that are not zero, one array per axis.
PyObject* nonzero_tuple(PyObject* x);

}  // namespace unisono::python
