// The type unisono._engine.Dispatcher: a compiled Python function or kernel as Python sees it.
#pragma once

#include <Python.h>

#include <cstddef>

namespace unisono {
struct NDRange;
}

namespace unisono::python {

/// The range of a kernel's launch by tuples of sizes, of which the local ones may be none; fails
/// where they do not fit, or the object is no Dispatcher.
NDRange launch_range(PyObject* kernel, PyObject* global, PyObject* local);
/// Launches a kernel. None, or null with a Python error set; also where the object is no
/// Dispatcher.
PyObject* launch_kernel(PyObject* kernel, const NDRange& range, PyObject* const* args,
                        std::size_t count);
/// Adds the type to the module; returns false with a Python error set.
bool add_dispatcher(PyObject* module);
/// Adds what the front end asks of captured values and sources; the same (jit_capture.cpp).
bool add_captures(PyObject* module);

}  // namespace unisono::python
