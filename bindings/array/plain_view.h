// The views that most slices are, made without detours.
#pragma once

#include "array/object.h"

namespace unisono::python {

/// The view of a key of integers in range, slices and None alone; false where the key holds
/// anything else, names an element or is wrong.
bool plain_view(PyObject* key, const Array& a, View& view);

}  // namespace unisono::python
