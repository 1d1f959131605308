// Methods and attributes of the array type that are written in Python: unisono._methods, which
// falls back on the package's function of the same name.
#include <algorithm>

#include "array_object.h"

namespace unisono::python {

namespace {

/// unisono._methods' function of that name, a new reference.
PyObject* function_of(const char* name) {
    PyObject* module = PyImport_ImportModule("unisono._methods");
    PyObject* function = module ? PyObject_GetAttrString(module, name) : nullptr;
    Py_XDECREF(module);
    return function;
}

template <std::size_t n>
struct Name {
    char text[n];
    constexpr Name(const char (&t)[n]) { std::copy(t, t + n, text); }
};

/// self.name(...) as unisono._methods.name(self, ...).
template <Name name>
PyObject* call(PyObject* self, PyObject* args, PyObject* names) noexcept {
    PyObject* function = function_of(name.text);
    PyObject* bound = function ? PyMethod_New(function, self) : nullptr;
    Py_XDECREF(function);
    PyObject* result = bound ? PyObject_Call(bound, args, names) : nullptr;
    Py_XDECREF(bound);
    return result;
}

/// self.name as unisono._methods.name(self).
template <Name name>
PyObject* get(PyObject* self, void*) noexcept {
    PyObject* function = function_of(name.text);
    PyObject* result = function ? PyObject_CallOneArg(function, self) : nullptr;
    Py_XDECREF(function);
    return result;
}

/// self.name = value as unisono._methods.set_name(self, value).
template <Name name>
int set(PyObject* self, PyObject* value, void*) noexcept {
    if (!value) {
        PyErr_SetString(PyExc_AttributeError, "ndarray: attributes cannot be deleted");
        return -1;
    }
    PyObject* function = function_of(name.text);
    PyObject* result =
        function ? PyObject_CallFunctionObjArgs(function, self, value, nullptr) : nullptr;
    Py_XDECREF(function);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

PyObject* divide_with_rest(PyObject* a, PyObject* b) noexcept {
    PyObject* function = function_of("divmod");
    PyObject* result = function ? PyObject_CallFunctionObjArgs(function, a, b, nullptr) : nullptr;
    Py_XDECREF(function);
    return result;
}

}  // namespace

PyType_Slot python_slots[] = {
    {Py_nb_divmod, reinterpret_cast<void*>(divide_with_rest)},
    {0, nullptr},
};

#define METHOD(name, doc)                                                              \
    {                                                                                  \
        name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call<name>)), \
            METH_VARARGS | METH_KEYWORDS, doc                                          \
    }
// The function of the package of that name, with the array first.
#define FUNCTION(name) METHOD(name, "As the package's function of that name, with the array first.")

PyMethodDef python_methods[] = {
    FUNCTION("choose"),
    FUNCTION("clip"),
    METHOD("compress",
           "Slices along `axis` where the condition is true; see ``unisono.compress``."),
    FUNCTION("conj"),
    FUNCTION("conjugate"),
    FUNCTION("diagonal"),
    FUNCTION("nonzero"),
    FUNCTION("put"),
    FUNCTION("repeat"),
    FUNCTION("round"),
    FUNCTION("squeeze"),
    FUNCTION("swapaxes"),
    FUNCTION("take"),
    METHOD("dump", "Writes the array's pickle to a file."),
    METHOD("dumps", "The array's pickle as bytes."),
    METHOD("tofile", "Writes the elements to a file, as bytes or, with sep=, as text."),
    METHOD("view", "The same memory as another dtype of the same size, or the array itself."),
    METHOD("__array_function__", "NumPy's functions on our arrays give our arrays."),
    METHOD("__array_namespace__", "The package, as the array API standard asks."),
    METHOD("__round__", nullptr),
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef python_attributes[] = {
    {"__array_interface__", get<"array_interface">, nullptr, "NumPy's protocol of that name.",
     nullptr},
    {"flags", get<"flags">, nullptr, "Layout and whether it may be written.", nullptr},
    {"flat", get<"flat">, set<"set_flat">, "Iterator over the elements in row-major order.",
     nullptr},
    {"mT", get<"matrix_transpose">, nullptr, "View with the last two axes exchanged.", nullptr},
    {"data", get<"data">, nullptr, "A memoryview of the elements.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace unisono::python
