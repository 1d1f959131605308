// Types whose objects are called in C before their class's __call__: the vectorcall protocol, which
// a class takes back by another __call__.
#include "jit/launch/call_in_front.h"

#include <structmember.h>

#include <vector>

#include "errors.h"

namespace unisono::python {

namespace {

PyObject* call_quickly(PyObject* type, PyObject*) {
    reinterpret_cast<PyTypeObject*>(type)->tp_call = PyVectorcall_Call;
    reinterpret_cast<PyTypeObject*>(type)->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    Py_RETURN_NONE;
}

PyMethodDef call_quickly_method = {"_call_quickly", call_quickly, METH_NOARGS, nullptr};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallInFront, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

template <class F>
void* slot(F* f) {
    return reinterpret_cast<void*>(f);
}

}  // namespace

bool is_called_otherwise(PyTypeObject* type) {
    if (type->tp_call == PyVectorcall_Call) [[likely]]
        return false;
    type->tp_flags &= ~Py_TPFLAGS_HAVE_VECTORCALL;
    return true;
}

PyObject* call_in_python(PyObject* object, PyObject* const* args, std::size_t count,
                         PyObject* keywords) {
    std::vector<PyObject*> all{object};
    const std::size_t named = keywords ? static_cast<std::size_t>(PyTuple_GET_SIZE(keywords)) : 0;
    all.insert(all.end(), args, args + count + named);
    const Ref name(PyUnicode_InternFromString("__call__"));
    if (!name) throw PythonError{};
    return PyObject_VectorcallMethod(name.get(), all.data(), count + 1, keywords);
}

bool add_call_in_front(PyObject* module, const CallInFrontType& type) {
    PyType_Slot slots[] = {{Py_tp_new, slot(type.make)},
                           {Py_tp_dealloc, slot(type.deallocate)},
                           {Py_tp_traverse, slot(type.traverse)},
                           {Py_tp_clear, slot(type.clear)},
                           {Py_tp_methods, type.methods},
                           {Py_tp_members, members},
                           {0, nullptr}};
    PyType_Spec spec{type.name, static_cast<int>(type.size), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    const Ref object(PyType_FromSpec(&spec));
    auto* made = reinterpret_cast<PyTypeObject*>(object.get());
    if (!made) return false;
    const Ref method(PyDescr_NewClassMethod(made, &call_quickly_method));
    return method &&
           PyObject_SetAttrString(object.get(), call_quickly_method.ml_name, method.get()) == 0 &&
           PyModule_AddType(module, made) == 0;
}

}  // namespace unisono::python
