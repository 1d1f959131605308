// The module's functions on arrays.
#pragma once

#include <Python.h>

namespace unisono::python {

bool add_functions(PyObject* module);

/// How an array of another library comes in where copy=None is given.
enum class Door {
    Share,  ///< operands of functions: read in place
    Copy,   ///< un.asarray: copied, and lazy ever after
    Adopt,  ///< as Copy, but the object is a temporary that nobody else sees: taken over
};

/// What un.array and un.asarray do, all arguments given (or None). Throws.
PyObject* make_array(PyObject* x, PyObject* dtype, PyObject* device, PyObject* copy, Door door);

}  // namespace unisono::python
