#include "array/subclasses.h"

#include <string_view>
#include <vector>

#include "array/exchange/numpy_layout.h"
#include "reference.h"
#include "tape/record/record.h"

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
        subclass_base = reinterpret_cast<PyTypeObject*>(derived_class(&spec, array_type));
        if (!subclass_base) return nullptr;
    }
    return Py_NewRef(reinterpret_cast<PyObject*>(subclass_base));
}

/// A value as an array without axes.
Array without_axes(const Array& value) {
    return value.is_known() ? full({}, value.scalar(), nullptr) : Array::of(value.view());
}

/// Calls the hook of the class that sees each new array of it, unless it is the one that does
/// nothing.
bool finalize(PyObject* made, PyObject* source) {
    static PyObject* const name = PyUnicode_InternFromString("__array_finalize__");
    Ref hook(PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(made)), name));
    if (!hook.p) return false;
    if (subclass_base) {
        Ref idle(PyObject_GetAttr(reinterpret_cast<PyObject*>(subclass_base), name));
        if (!idle.p) return false;
        if (hook.p == idle.p) return true;
    }
    Ref result(PyObject_CallMethodOneArg(made, name, source));
    return result.p != nullptr;
}

PyObject* of_class(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        PyObject* const made = args[0];
        const bool is_ours =
            Py_TYPE(made) == array_type || is_scalar(made) || is_value_object(made);
        const bool is_done = Py_TYPE(made) == Py_TYPE(args[1]);
        if (!is_ours || is_done || !is_array(args[1]) || is_scalar(args[1])) return Py_NewRef(made);
        Array a = array_in(made);
        if (a.is_value()) {
            if (n < 3) return Py_NewRef(made);
            a = without_axes(a);
        }
        Ref object(wrap_as(Py_TYPE(args[1]), a));
        return object.p && finalize(object.p, args[1]) ? object.release() : nullptr;
    });
}

PyObject* plain(PyObject*, PyObject* x) noexcept {
    if (Py_TYPE(x) == array_type || is_scalar(x) || !is_array(x)) return Py_NewRef(x);
    return guarded<PyObject*>(nullptr, [&] { return wrap_array(used_array(x)); });
}

PyObject* is_of_numpys_object(PyObject*, PyObject* x) noexcept {
    return PyBool_FromLong(
        is_of_numpys(PyType_Check(x) ? reinterpret_cast<PyTypeObject*>(x) : Py_TYPE(x)));
}

PyMethodDef functions[] = {
    {"_of_class", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(of_class)),
     METH_FASTCALL,
     "_of_class(made, source, with_numbers=False, /)\n--\n\n"
     "An array as one of the class of `source`, a number too where these count; others as they "
     "are."},
    {"_plain", plain, METH_O,
     "_plain(x, /)\n--\n\nThe array itself of an array of a derived class."},
    {"_subclass_base", make_base, METH_NOARGS, "_subclass_base()\n--\n\n"},
    {"_is_of_numpys", is_of_numpys_object, METH_O,
     "_is_of_numpys(x, /)\n--\n\nWhether it is a masked array, a matrix, or of another class that "
     "derives from NumPy's array, or such a class."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool has_protocol(PyObject* o) {
    if (is_array(o)) return subclass_base && PyObject_TypeCheck(o, subclass_base);
    if (is_value_object(o)) return false;
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
    const auto has = [&](const char* name) { return PyObject_HasAttrString(type, name) != 0; };
    return has("__array_ufunc__") || (has("__array_priority__") && !has("__array__") &&
                                      !PyObject_HasAttrString(o, "base_data"));  // pyopencl's
}

bool has_functions(PyObject* o) {
    if (is_value_object(o) || is_scalar(o)) return false;
    static PyObject* const name = PyUnicode_InternFromString("__array_function__");
    PyObject* const own = _PyType_Lookup(Py_TYPE(o), name);
    return own && (!is_array(o) || own != _PyType_Lookup(array_type, name));
}

bool derives_from_numpys(const PyTypeObject* type) {
    PyObject* const lines = type->tp_mro;
    for (Py_ssize_t k = 0; lines && k < PyTuple_GET_SIZE(lines); ++k) {
        const auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(lines, k));
        if (std::string_view(base->tp_name) == "numpy.ndarray") return true;
    }
    return false;
}

bool is_numpys_with_axes(PyObject* o) {
    return derives_from_numpys(Py_TYPE(o)) &&
           (reinterpret_cast<NumPyArray*>(o)->rank > 0 || is_of_numpys(o));
}

bool is_of_numpys(const PyTypeObject* type) {
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) return false;  // NumPy's array itself
    const std::string_view name = type->tp_name;
    return name != "memmap" && name != "recarray" && derives_from_numpys(type);
}

PyObject* call_with(PyObject* function, PyObject* first, PyObject* const* args, Py_ssize_t n,
                    PyObject* names) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
        std::vector<PyObject*> all{first};
        all.insert(all.end(), args, args + n + named);
        return PyObject_Vectorcall(function, all.data(), static_cast<std::size_t>(n + 1), names);
    });
}

PyObject* call_by_protocol(const char* name, PyObject* first, PyObject* const* args, Py_ssize_t n,
                           PyObject* names) noexcept {
    static PyObject* known = nullptr;
    PyObject* module = kept(known, "unisono._arrays.subclasses");
    Ref function(module ? PyObject_GetAttrString(module, name) : nullptr);
    return function.p ? call_with(function.p, first, args, n, names) : nullptr;
}

bool add_subclasses(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace unisono::python
