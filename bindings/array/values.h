// Values of float64, int64 and complex128 as Python objects: they are Python's float, int and
// complex, and have the attributes and operators of arrays besides, as NumPy's scalars have. Values
// of other dtypes are scalars (array/scalars.h); those that are still to be computed are objects of
// the array type.
#pragma once

#include <Python.h>

#include <bit>
#include <cstdint>

#include "core/dtype.h"
#include "core/scalar.h"
#include "tape/array.h"

namespace unisono::python {

extern PyTypeObject *float_value_type, *int_value_type, *complex_value_type;

inline bool is_value_object(PyObject* o) {
    const PyTypeObject* t = Py_TYPE(o);
    return t == float_value_type || t == int_value_type || t == complex_value_type;
}

/// A number that the host knows, of any real dtype; converts to false where there is none.
struct KnownValue {
    DType dtype{};
    bool exists = false;
    std::uint64_t bits = 0;
    explicit operator bool() const { return exists; }
    Scalar scalar() const { return {bits, dtype}; }
};

/// The number of an int value.
inline std::int64_t int_of_value(PyObject* o) {
    auto* number = reinterpret_cast<PyLongObject*>(o);
#if PY_VERSION_HEX >= 0x030C0000
    if (PyUnstable_Long_IsCompact(number)) return PyUnstable_Long_CompactValue(number);
#else
    const Py_ssize_t digits = Py_SIZE(o);  // negative where the number is
    if (digits <= 1 && digits >= -1) return digits * static_cast<std::int64_t>(number->ob_digit[0]);
#endif
    return PyLong_AsLongLong(o);
}

/// What a value object of float64 or int64 is; nothing for all other objects.
inline KnownValue known_number(PyObject* o) {
    const PyTypeObject* t = Py_TYPE(o);
    if (t == float_value_type)
        return {DType::Float64, true, std::bit_cast<std::uint64_t>(PyFloat_AS_DOUBLE(o))};
    if (t == int_value_type)
        return {DType::Int64, true, static_cast<std::uint64_t>(int_of_value(o))};
    return {};
}

/// New references; null with a Python error.
PyObject* float_value(double value) noexcept;
PyObject* int_value(std::int64_t value) noexcept;
PyObject* complex_value(double real, double imaginary) noexcept;

/// The object of a value on the host, a number of Python's or a scalar, computed if little is
/// pending; null without an error where it stays an array. Throws what the computation throws.
PyObject* number_object(const Array& a);

/// The array of a value object, which is a value of its dtype.
Array array_of_value(PyObject* o);

/// The class of the types of values, which have the hashes of their dtypes; null with an error.
PyTypeObject* value_metaclass() noexcept;

/// Creates the types, whose attributes are those of the array type.
bool add_value_types(PyObject* module);

}  // namespace unisono::python
