// Single elements of arrays that the host can read and write now: where a key names one, and the
// bits there. All that is out of the ordinary is left to the general way (array/index.cpp).
#pragma once

#include <cstring>

#include "array/known_values.h"
#include "tape/eager/eager.h"
#include "tape/windows.h"

namespace unisono::python {

/// Where in its storage the element lies that a key of integers names; false where the key is any
/// other or out of range.
inline bool element_place(PyObject* key, const View& v, std::int64_t& place) {
    PyObject* const* parts = &key;
    Py_ssize_t n = 1;
    if (PyTuple_CheckExact(key)) {
        parts = reinterpret_cast<PyTupleObject*>(key)->ob_item;
        n = PyTuple_GET_SIZE(key);
    }
    if (!v.storage || n != v.layout->rank() || n == 0) return false;
    const std::int64_t* extents = v.layout->shape().data();
    const std::int64_t* strides = extents + n;
    std::int64_t at = v.offset;
    for (Py_ssize_t k = 0; k < n; ++k) {
        std::int64_t i;
        if (!plain_integer(parts[k], i)) return false;
        if (i < 0) i += extents[k];
        if (i < 0 || i >= extents[k]) return false;
        at += i * strides[k];
    }
    place = at;
    return true;
}

/// The value of that memory; null without an error where there is more to it.
[[gnu::always_inline]] inline PyObject* value_at(DType dtype, const char* from) noexcept {
    if (dtype == DType::Float64) {
        double value;
        std::memcpy(&value, from, sizeof value);
        return float_value(value);
    }
    if (dtype == DType::Complex128) {
        double parts[2];
        std::memcpy(parts, from, sizeof parts);
        return complex_value(parts[0], parts[1]);
    }
    if (is_complex(dtype)) return nullptr;
    std::uint64_t bits = 0;
    switch (size_of(dtype)) {
        case 8: std::memcpy(&bits, from, 8); break;
        case 4: std::memcpy(&bits, from, 4); break;
        case 2: std::memcpy(&bits, from, 2); break;
        default: std::memcpy(&bits, from, 1);
    }
    return wrap_value(dtype, bits);
}

/// Of an array that lies on the mesh of a rank alone.
[[gnu::noinline]] inline PyObject* value_on_mesh(const View& v, std::int64_t place) noexcept {
    const char* from = element_here(v, place);
    return from ? value_at(v.dtype, from) : nullptr;
}

/// The value at a place; null without an error where it cannot be read now.
inline PyObject* read_place(const View& v, std::int64_t place) noexcept {
    if (!eager::is_ready(v.storage)) return value_on_mesh(v, place);
    return value_at(v.dtype, v.storage->data() + place * size_of(v.dtype));
}

/// Stores a value of ours of the same dtype, or a Python number that fits; false where there is
/// more to it.
inline bool write_place(const Array& a, std::int64_t place, PyObject* value) {
    const View& v = a.view();
    Storage* s = v.storage;
    if (!eager::is_idle(s) || a.readonly() || is_complex(v.dtype)) return false;
    std::uint64_t bits;
    if (v.dtype == DType::Float64 &&
        (PyFloat_CheckExact(value) || Py_TYPE(value) == float_value_type)) {
        bits = std::bit_cast<std::uint64_t>(PyFloat_AS_DOUBLE(value));
    } else if (const KnownValue known = known_value(value)) {
        if (known.dtype != v.dtype) return false;
        bits = known.bits;
    } else if (!number_as(value, v.dtype, bits)) {
        return false;
    }
    const std::int64_t bytes = size_of(v.dtype);
    char* to = s->data() + place * bytes;
    switch (bytes) {
        case 8: std::memcpy(to, &bits, 8); break;
        case 4: std::memcpy(to, &bits, 4); break;
        case 2: std::memcpy(to, &bits, 2); break;
        default: std::memcpy(to, &bits, 1);
    }
    ++s->version;
    return true;
}

}  // namespace unisono::python
