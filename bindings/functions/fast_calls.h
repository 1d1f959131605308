// The calls of functions of the namespace that run in C: making and joining arrays, counting,
// searching.
#pragma once

#include <Python.h>

#include <cstddef>
#include <span>

namespace unisono::python {

/// The arguments of a call, as vectorcall hands them over.
struct Given {
    PyObject* const* args;
    Py_ssize_t count;
    PyObject* names;  ///< null where all are positional

    /// The arguments by the keys in their order, null where one is not given; false where there are
    /// others, or the first is missing.
    bool sort(std::span<const char* const> keys, PyObject** found) const;
};

/// The result; null without a Python error where the call is another's.
using ShortCall = PyObject* (*)(const Given& given);

/// The one for the function of that name, null if there is none.
ShortCall short_call(const char* name);

}  // namespace unisono::python
