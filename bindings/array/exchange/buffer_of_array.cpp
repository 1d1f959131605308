// A base class for Python classes that are arrays by their method __array__: their bytes are that
// array's. Python classes have no buffers of their own before Python 3.12. Those of a class with
// the attribute _has_format tell their format, too.
#include "array/exchange/adopt.h"
#include "reference.h"

namespace unisono::python {

namespace {

PyTypeObject* buffer_type = nullptr;

int get_buffer_of_array(PyObject* self, Py_buffer* view, int flags) noexcept {
    view->obj = nullptr;
    // NumPy asks for a buffer before __array__, but would not get the same dtype from its format.
    if ((flags & PyBUF_FORMAT) == PyBUF_FORMAT && !PyObject_HasAttrString(self, "_has_format")) {
        PyErr_Format(PyExc_BufferError,
                     "buffer: the elements of this %s have no format of buffers; use .data, "
                     ".tobytes() or np.asarray",
                     Py_TYPE(self)->tp_name);
        return -1;
    }
    Ref array(PyObject_CallMethod(self, "__array__", nullptr));
    // view->obj is the array, which owns the buffer and is kept alive by it.
    return array.p ? PyObject_GetBuffer(array.p, view, flags) : -1;
}

}  // namespace

bool has_buffer_of_array(PyObject* o) { return PyObject_TypeCheck(o, buffer_type); }

bool add_buffer_of_array(PyObject* module) {
    PyType_Slot slots[] = {
        {Py_tp_doc, const_cast<char*>("Base class: the buffer protocol by the method __array__.")},
        {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer_of_array)},
        {0, nullptr}};
    PyType_Spec spec{"unisono._engine._BufferOfArray", 0, 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    PyObject* made = PyType_FromSpec(&spec);
    if (!made) return false;
    buffer_type = reinterpret_cast<PyTypeObject*>(made);
    return PyModule_AddObjectRef(module, "_BufferOfArray", made) == 0;
}

}  // namespace unisono::python
