// Places of operands: what is not an array of ours has none, and goes to the arrays that it is used
// with.
#pragma once

#include <Python.h>

#include <span>

#include "tape/array.h"

namespace unisono::python {

/// `made` is what `given` was converted to.
void bring_beside(const Array& a, PyObject* given, Array& made);
/// The same of the operands of one statement; where none is ours, they go where new arrays are
/// made. What moves is kept in `keep`, which is as long.
void bring_together(PyObject* const* given, std::span<Arg> made, std::span<Array> keep);
void bring_together(PyObject* const* given, std::span<Array> made);

}  // namespace unisono::python
