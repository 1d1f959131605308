// The type unisono._engine.Dispatcher: a compiled Python function or kernel as Python sees it.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Adds the type to the module; returns false with a Python error set.
bool add_dispatcher(PyObject* module);
/// Adds what the front end asks of captured values and sources; the same (jit_capture.cpp).
bool add_captures(PyObject* module);

}  // namespace unisono::python
