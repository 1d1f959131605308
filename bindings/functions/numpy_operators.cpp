// The attribute __array_ufunc__ of the array type. Operators of NumPy's scalars and arrays look it
// up on the type of their right operand: where it is None they return NotImplemented, and
// our reflected operator computes; else they go through NumPy's ufunc and its dispatch to ours,
// which gives the same ten times as slowly. NumPy's functions, called, need the method.
//
// So the attribute is None for the look-up that an operator of the program makes, as the
// instruction that runs tells, and the method for all others. In-place operators never defer:
// they too get the method.
#include "functions/numpy_operators.h"

#include "array/object.h"
#include "reference.h"

namespace unisono::python {

namespace {

struct Attribute {
    PyObject_HEAD PyObject* method;  ///< the type's, as if it stood in its dictionary
};

PyObject* look_up(PyObject* self, PyObject* object, PyObject* type) noexcept {
    PyObject* method = reinterpret_cast<Attribute*>(self)->method;
    const bool on_type = !object || object == Py_None;
    if (on_type && runs_operator()) Py_RETURN_NONE;
    return Py_TYPE(method)->tp_descr_get(method, on_type ? nullptr : object, type);
}

void deallocate(PyObject* self) noexcept {
    PyTypeObject* type = Py_TYPE(self);
    Py_XDECREF(reinterpret_cast<Attribute*>(self)->method);
    type->tp_free(self);
    Py_DECREF(type);
}

}  // namespace

bool add_numpy_operators(PyTypeObject* type) {
    PyType_Slot slots[] = {{Py_tp_descr_get, reinterpret_cast<void*>(look_up)},
                           {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                           {0, nullptr}};
    PyType_Spec spec = {"unisono._engine._ArrayUfunc", sizeof(Attribute), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    Ref kind(PyType_FromSpec(&spec));
    PyObject* method = PyDict_GetItemString(type->tp_dict, "__array_ufunc__");
    if (!kind.p || !method) return false;
    auto* made = PyObject_New(Attribute, reinterpret_cast<PyTypeObject*>(kind.p));
    if (!made) return false;
    made->method = Py_NewRef(method);
    Ref owned(reinterpret_cast<PyObject*>(made));
    if (PyDict_SetItemString(type->tp_dict, "__array_ufunc__", owned.p) != 0) return false;
    PyType_Modified(type);
    return true;
}

}  // namespace unisono::python
