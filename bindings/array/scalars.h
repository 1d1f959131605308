// Values of dtypes that Python has no number of (float32, int8, bool, ...), once they are computed:
// objects as those of the array type, of a class for each dtype, as NumPy's scalars are. They
// cannot be written and have no length; all other slots and attributes are those of arrays.
#pragma once

#include <Python.h>

#include <vector>

#include "core/dtype.h"

namespace unisono {
class Array;
}

namespace unisono::python {

/// The types by dtype; null for float64, int64 and complex128 (array/values.h).
extern PyTypeObject* scalar_types[dtype_count];
inline PyTypeObject* scalar_type(DType t) { return scalar_types[static_cast<int>(t)]; }

void deallocate_scalar(PyObject* self) noexcept;
inline bool is_scalar(PyObject* o) { return Py_TYPE(o)->tp_dealloc == deallocate_scalar; }

/// Gives a new object of the array type, which holds a value of this dtype, the type of its
/// scalars. The object keeps its reference to the array type: those of scalars live for good.
inline void become_scalar(PyObject* object, DType t) { Py_SET_TYPE(object, scalar_type(t)); }

/// A new reference to the scalar of a value of a dtype that has a type of scalars.
PyObject* wrap_scalar(const Array& value) noexcept;

/// Creates the types, with those of the array type's slots that hold of values.
bool add_scalar_types(PyObject* module, const std::vector<PyType_Slot>& array_slots);

}  // namespace unisono::python
