// What types share whose objects are called in C first, and by their class's __call__ otherwise.
#pragma once

#include <Python.h>

#include <cstddef>

#include "reference.h"

namespace unisono::python {

/// The beginning of their objects.
struct CallInFront {
    PyObject_HEAD vectorcallfunc vectorcall;
};

/// What the types differ by.
struct CallInFrontType {
    const char* name;  ///< with the module's
    std::size_t size;  ///< of an object
    newfunc make;
    destructor deallocate;
    traverseproc traverse;
    inquiry clear;
    PyMethodDef* methods;
};

/// Whether somebody has given the class another __call__ since then, which is then called alone.
bool is_called_otherwise(PyTypeObject* type);

/// The class's __call__ with the arguments of a vectorcall; throws a Python error.
PyObject* call_in_python(PyObject* object, PyObject* const* args, std::size_t count,
                         PyObject* keywords);

/// Adds the type to the module, with the class method _call_quickly(): from then on calls of the
/// class's objects come to `vectorcall` before its __call__. Returns false with a Python error set.
bool add_call_in_front(PyObject* module, const CallInFrontType& type);

}  // namespace unisono::python
