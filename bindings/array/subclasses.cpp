#include "array/subclasses.h"

#include "reference.h"

namespace unisono::python {

PyTypeObject* subclass_base = nullptr;

namespace {

/// As the array type but for what Python gives it: only so may it take the place of that type among
/// the bases of a class that exists.
PyObject* make_base(PyObject*, PyObject*) noexcept {
    if (!subclass_base) {
        PyType_Slot slots[] = {
            {Py_tp_dealloc, reinterpret_cast<void*>(array_type->tp_dealloc)},
            {Py_tp_doc, const_cast<char*>("An array whose results are of its class.")},
            {0, nullptr},
        };
        PyType_Spec spec{"unisono._Subclass", static_cast<int>(sizeof(PyArray)), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
        Ref bases(PyTuple_Pack(1, array_type));
        if (!bases.p) return nullptr;
        subclass_base = reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, bases.p));
        if (!subclass_base) return nullptr;
    }
    return Py_NewRef(reinterpret_cast<PyObject*>(subclass_base));
}

PyMethodDef functions[] = {
    {"_subclass_base", make_base, METH_NOARGS, "_subclass_base()\n--\n\n"},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool has_protocol(PyObject* o) {
    if (is_array(o)) return subclass_base && PyObject_TypeCheck(o, subclass_base);
    if (is_value_object(o)) return false;
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
    const auto has = [&](const char* name) { return PyObject_HasAttrString(type, name) != 0; };
    return has("__array_ufunc__") || (has("__array_priority__") && !has("__array__"));
}

bool add_subclasses(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace unisono::python
