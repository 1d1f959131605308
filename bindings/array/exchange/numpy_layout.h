// NumPy's arrays as they lie in memory: reading them so costs a tenth of the buffer protocol.
#pragma once

#include <Python.h>

#include <cstdint>
#include <cstring>

#include "core/dtype.h"

namespace unisono::python {

/// The head of NumPy's array and dtype objects, whose layout NumPy keeps for good.
struct NumPyArray {
    PyObject_HEAD char* data;
    int rank;
    Py_ssize_t* shape;
    Py_ssize_t* strides;
    PyObject* base;
    PyObject* dtype;
    int flags;
    PyObject* weakrefs;
};
struct NumPyVoid {  ///< an element of a structured array, or a copy of one
    PyVarObject head;
    char* data;
    PyObject* dtype;
    int flags;
};
struct NumPyDType {
    PyObject_HEAD PyTypeObject* scalar;
    char kind, letter, byte_order, former_flags;
    int number;
};
constexpr int numpy_contiguous = 1, numpy_owns = 4, numpy_aligned = 0x100, numpy_writable = 0x400;
constexpr int numpy_numbers = 16;  // bool to complex128
// long double has none of ours.
constexpr std::int8_t numpy_sizes[numpy_numbers] = {1, 1, 1, 2, 2, 4, 4, 8,
                                                    8, 8, 8, 4, 8, 0, 8, 16};

inline bool is_numpy_array(PyObject* object) {
    static PyTypeObject* known = nullptr;
    PyTypeObject* type = Py_TYPE(object);
    if (known) return type == known;
    if (std::strcmp(type->tp_name, "numpy.ndarray") != 0) return false;
    known = type;
    return true;
}

inline bool is_numpy_scalar(PyObject* object) {
    const char* name = Py_TYPE(object)->tp_name;
    return std::strncmp(name, "numpy.", 6) == 0 && std::strcmp(name, "numpy.ndarray") != 0;
}

/// Whether elements of that size are aligned, with nothing but elements between them.
inline bool is_in_place(const NumPyArray& a, std::int64_t size) {
    Py_ssize_t odd = 0;
    for (int i = 0; i < a.rank; ++i) odd |= a.strides[i];
    return (a.flags & numpy_aligned) && (odd & (size - 1)) == 0;
}

/// Whether elements are numbers that compiled code reads in place; gives their dtype.
inline bool is_plain(const NumPyArray& a, DType& dtype) {
    auto* t = reinterpret_cast<NumPyDType*>(a.dtype);
    if (t->number < 0 || t->number >= numpy_numbers || t->byte_order == '>') return false;
    std::int64_t size = numpy_sizes[t->number];
    if (size == 0 || !is_in_place(a, size)) return false;
    dtype = dtype_of(t->kind, size);
    return size_of(dtype) == size;
}

}  // namespace unisono::python
