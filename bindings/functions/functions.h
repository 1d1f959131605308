// The module's functions on arrays.
#pragma once

#include <Python.h>

namespace unisono::python {

bool add_functions(PyObject* module);

/// How an array of another library is converted where copy=None is given.
enum class CopyMode {
    Share,  ///< shares memory: operands of functions
    Copy,   ///< copied, so that later operations are lazy: un.asarray
    Adopt,  ///< as Copy, but the object is a temporary, whose memory is taken over
};

/// What un.array and un.asarray do, all arguments given (or None). Throws.
PyObject* make_array(PyObject* x, PyObject* dtype, PyObject* device, PyObject* copy, CopyMode mode);

}  // namespace unisono::python
