// Products of matrices and linear algebra for Python.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Slots of the operators @ and @=.
PyObject* matrix_multiply(PyObject* a, PyObject* b) noexcept;
PyObject* matrix_multiply_in_place(PyObject* a, PyObject* b) noexcept;

bool add_linalg(PyObject* module);

}  // namespace unisono::python
