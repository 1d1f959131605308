// Finds out quickly whether a raw kernel takes a call's arguments as they are, as most calls' are:
// what is not is checked and converted in Python (_raw/arguments.py).
#include "jit/launch/raw_arguments.h"

#include <string>

#include "array/object.h"
#include "array/view.h"
#include "errors.h"
#include "reference.h"

namespace unisono::python {

namespace {

/// Of a parameter, in the text that _raw_types gives.
constexpr char pointer_bit = 0x40;

bool is_in_range(PyObject* number, DType t) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow) return false;
    const int bits = 8 * static_cast<int>(size_of(t));
    if (is_unsigned(t)) return value >= 0 && (bits == 64 || value >> bits == 0);
    return bits == 64 || (value >> (bits - 1)) == (value < 0 ? -1 : 0);
}

/// A one-dimensional array whose elements follow each other, of one device with those before it.
bool is_plain_array(PyObject* object, DType t, Device*& place) {
    ArrayView view;
    if (Py_TYPE(object) != array_type || !view_of_array(object, view)) return false;
    const bool is_packed = view.shape.size() == 1 && view.strides[0] == 1;
    if (view.dtype != t || !is_packed || !view.device || (place && place != view.device))
        return false;
    place = view.device;
    return true;
}

}  // namespace

std::string raw_types(PyObject* parameters) {
    if (!PyTuple_Check(parameters)) fail(ErrorKind::Type, "expected a tuple");
    std::string found;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(parameters); ++k) {
        const char* dtype;
        int is_pointer;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(parameters, k), "sp", &dtype, &is_pointer))
            throw PythonError{};
        bool is_known = false;
        const DType t = dtype_from_name(dtype, is_known);
        if (!is_known) return {};
        found += static_cast<char>(static_cast<char>(t) | (is_pointer ? pointer_bit : 0));
    }
    return found;
}

Device* raw_device(std::string_view types, PyObject* args) {
    Device* device = nullptr;
    if (PyTuple_GET_SIZE(args) != static_cast<Py_ssize_t>(types.size())) return nullptr;
    for (std::size_t k = 0; k < types.size(); ++k) {
        PyObject* object = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(k));
        const auto t = static_cast<DType>(types[k] & ~pointer_bit);
        bool is_plain = false;
        if (types[k] & pointer_bit)
            is_plain = is_plain_array(object, t, device);
        else if (PyLong_CheckExact(object))
            is_plain = is_integer(t) && is_in_range(object, t);
        else
            is_plain = PyFloat_CheckExact(object) && (t == DType::Float32 || t == DType::Float64);
        if (!is_plain) return nullptr;
    }
    return device;
}

namespace {

/// _raw_types(((dtype, whether it is a pointer), ...)): what _raw_place takes; empty where one is
/// no dtype
PyObject* types(PyObject*, PyObject* parameters) {
    return guarded<PyObject*>(nullptr, [&] {
        const std::string found = raw_types(parameters);
        return PyBytes_FromStringAndSize(found.data(), static_cast<Py_ssize_t>(found.size()));
    });
}

/// _raw_place(types, args): an int that stands for the device of the arrays; 0 where they are not
/// on one device, or an argument is not plain
PyObject* place(PyObject*, PyObject* const* args, Py_ssize_t count) {
    if (count != 2 || !PyBytes_Check(args[0]) || !PyTuple_Check(args[1]))
        return PyErr_Format(PyExc_TypeError, "expected types and a tuple");
    return guarded<PyObject*>(nullptr, [&] {
        const std::string_view types(PyBytes_AS_STRING(args[0]),
                                     static_cast<std::size_t>(PyBytes_GET_SIZE(args[0])));
        return PyLong_FromVoidPtr(raw_device(types, args[1]));
    });
}

PyMethodDef functions[] = {
    {"_raw_types", types, METH_O, nullptr},
    {"_raw_place", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(place)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_raw_arguments(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace unisono::python
