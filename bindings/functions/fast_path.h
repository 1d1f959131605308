// Functions of the namespace written in Python, with a way in C for the calls that are made most.
#pragma once

#include <Python.h>

namespace unisono::python {

bool add_fast_path(PyObject* module);

}  // namespace unisono::python
