// The array's methods that copy its elements in an order, and its shape as an attribute that can be
// set.
#pragma once

#include "array/object.h"

namespace unisono::python {

/// Whether the array lies as NumPy's letter has it, so that astype without a copy gives itself.
bool lies_in(const Array& a, PyObject* order);
/// A copy whose rows or columns are packed, as NumPy's letter (or null for rows) has it: the
/// letters A and K ask for the order of `like`.
Array copy_in_order(const Array& a, PyObject* order, const Array& like);
PyObject* copy_method(PyObject* self, PyObject* args, PyObject* names) noexcept;
PyObject* tobytes_method(PyObject* self, PyObject* args, PyObject* names) noexcept;
/// Setter of `shape`: a view of the same elements, or AttributeError where that needs a copy.
int set_shape(PyObject* self, PyObject* value, void*) noexcept;

}  // namespace unisono::python
