// Calls that NumPy computes: with text, dates, objects, or numbers of extended precision.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Behind a call that failed: NumPy's result where an argument is what NumPy alone computes, as
/// unisono._arrays.exchange.numpys_elements has it; else null, with the error as it was.
PyObject* by_numpy(const char* name, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept;

/// What an operator, as "operator.add", gives between an array of ours and an object of a class
/// that has it; NotImplemented of arrays on devices.
PyObject* operated_by_numpy(const char* name, PyObject* a, PyObject* b) noexcept;

/// A number of ours as NumPy's scalar of its dtype, all else itself; null with a Python error.
PyObject* as_numpys_number(PyObject* o) noexcept;

/// What NumPy's function of the name gives, of arrays of classes of NumPy's.
PyObject* computed_by_numpy(const char* name, PyObject* const* args, Py_ssize_t n) noexcept;

}  // namespace unisono::python
