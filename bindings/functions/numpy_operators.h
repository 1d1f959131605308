// What NumPy's operators find when they meet our arrays on the right.
#pragma once

#include <Python.h>

namespace unisono::python {

/// Makes the operators of NumPy's scalars and arrays defer to ours.
bool add_numpy_operators(PyTypeObject* type);

/// Whether the interpreter runs an operator of the program that is not in place: a + b, a < b; and
/// no call. Always false where its frames are not known.
bool runs_operator() noexcept;

}  // namespace unisono::python
