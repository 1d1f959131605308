// The type unisono._engine.Dispatcher: a compiled Python function or kernel as Python sees it.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Launches a kernel over a range: tuples of sizes, of which the local ones may be none, and of
/// arguments. None, or null with a Python error set; also where the object is no Dispatcher.
PyObject* launch_kernel(PyObject* kernel, PyObject* global, PyObject* local, PyObject* args);
/// Adds the type to the module; returns false with a Python error set.
bool add_dispatcher(PyObject* module);
/// Adds what the front end asks of captured values and sources; the same (jit_capture.cpp).
bool add_captures(PyObject* module);

}  // namespace unisono::python
