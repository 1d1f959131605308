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

bool is_raw_number(PyObject* object, DType t) {
    if (PyLong_CheckExact(object)) return is_integer(t) && is_in_range(object, t);
    return PyFloat_CheckExact(object) && (t == DType::Float32 || t == DType::Float64);
}

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
        found += static_cast<char>(static_cast<char>(t) | (is_pointer ? raw_pointer_bit : 0));
    }
    return found;
}

Device* raw_device(std::string_view types, PyObject* args) {
    Device* device = nullptr;
    if (PyTuple_GET_SIZE(args) != static_cast<Py_ssize_t>(types.size())) return nullptr;
    for (std::size_t k = 0; k < types.size(); ++k) {
        PyObject* object = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(k));
        const DType t = raw_dtype(types[k]);
        if (!(is_raw_pointer(types[k]) ? is_plain_array(object, t, device)
                                       : is_raw_number(object, t)))
            return nullptr;
    }
    return device;
}

}  // namespace unisono::python
