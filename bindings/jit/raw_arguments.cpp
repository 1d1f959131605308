// Finds out quickly whether a raw kernel takes a call's arguments as they are, as most calls' are,
// and launches it: what is not is checked and converted in Python (_raw/arguments.py).
#include "jit/raw_arguments.h"

#include <string>

#include "array/object.h"
#include "array/view.h"
#include "errors.h"
#include "jit/dispatcher.h"
#include "reference.h"

namespace unisono::python {

namespace {

/// Of a parameter, in the text that _raw_types gives.
constexpr char pointer_bit = 0x40;

/// _raw_types(((dtype, whether it is a pointer), ...)): what _raw_place takes; empty where one is
/// no dtype
PyObject* types(PyObject*, PyObject* parameters) {
    if (!PyTuple_Check(parameters)) return PyErr_Format(PyExc_TypeError, "expected a tuple");
    std::string found;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(parameters); ++k) {
        const char* dtype;
        int is_pointer;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(parameters, k), "sp", &dtype, &is_pointer))
            return nullptr;
        bool is_known = false;
        const DType t = dtype_from_name(dtype, is_known);
        if (!is_known) return PyBytes_FromStringAndSize(nullptr, 0);
        found += static_cast<char>(static_cast<char>(t) | (is_pointer ? pointer_bit : 0));
    }
    return PyBytes_FromStringAndSize(found.data(), static_cast<Py_ssize_t>(found.size()));
}

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

/// The device of the arrays; null where they are not on one, or an argument is not plain.
Device* device_of(PyObject* bytes, PyObject* args) {
    const char* types = PyBytes_AS_STRING(bytes);
    const Py_ssize_t n = PyBytes_GET_SIZE(bytes);
    Device* device = nullptr;
    if (PyTuple_GET_SIZE(args) != n) return nullptr;
    for (Py_ssize_t k = 0; k < n; ++k) {
        PyObject* object = PyTuple_GET_ITEM(args, k);
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

/// _raw_place(types, args): an int that stands for the device of the arrays; 0 where they are not
/// on one device, or an argument is not plain
PyObject* place(PyObject*, PyObject* const* args, Py_ssize_t count) {
    if (count != 2 || !PyBytes_Check(args[0]) || !PyTuple_Check(args[1]))
        return PyErr_Format(PyExc_TypeError, "expected types and a tuple");
    return guarded<PyObject*>(
        nullptr, [&]() -> PyObject* { return PyLong_FromVoidPtr(device_of(args[0], args[1])); });
}

/// _raw_launch(types, known, shared bytes, grid, block, args): whether arguments are passed as they
/// are to a kernel that `known` has, as {(what _raw_place gives, shared bytes, grid, block):
/// (kernel, global sizes, local sizes)}, which is launched then
PyObject* launch(PyObject*, PyObject* const* a, Py_ssize_t count) {
    if (count != 6 || !PyBytes_Check(a[0]) || !PyDict_Check(a[1]) || !PyTuple_Check(a[5]))
        return PyErr_Format(PyExc_TypeError, "expected types, launches, sizes and a tuple");
    if (!PyTuple_CheckExact(a[3]) || !PyTuple_CheckExact(a[4])) Py_RETURN_FALSE;
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Device* device = device_of(a[0], a[5]);
        if (!device) return Py_NewRef(Py_False);
        Ref place(PyLong_FromVoidPtr(device));
        Ref key(place ? PyTuple_Pack(4, place.get(), a[2], a[3], a[4]) : nullptr);
        if (!key) throw PythonError{};
        PyObject* found = PyDict_GetItemWithError(a[1], key.get());
        if (!found) {
            if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) throw PythonError{};
            PyErr_Clear();  // sizes that are no numbers
            return Py_NewRef(Py_False);
        }
        const Ref kept = Ref::of(found);
        Ref done(launch_kernel(PyTuple_GET_ITEM(found, 0), PyTuple_GET_ITEM(found, 1),
                               PyTuple_GET_ITEM(found, 2), a[5]));
        if (!done) throw PythonError{};
        return Py_NewRef(Py_True);
    });
}

PyMethodDef functions[] = {
    {"_raw_types", types, METH_O, nullptr},
    {"_raw_place", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(place)),
     METH_FASTCALL, nullptr},
    {"_raw_launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(launch)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_raw_arguments(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace unisono::python
