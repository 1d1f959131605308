// Values that the host knows: made, read and computed with on the shortest way, as programs do that
// go through arrays element by element.
#pragma once

#include <bit>
#include <limits>

#include "array/object.h"
#include "array/values.h"
#include "reference.h"
#include "tape/record/float_errors.h"
#include "tape/record/known_operations.h"

namespace unisono::python {

/// The object of a value.
inline PyObject* wrap_value(DType t, std::uint64_t bits) noexcept {
    if (t == DType::Float64) return float_value(std::bit_cast<double>(bits));
    if (t == DType::Int64) return int_value(static_cast<std::int64_t>(bits));
    if (is_bool(t)) return Py_NewRef(truth_object(bits & 1));
    static const Layout* const layout = Layout::scalar();
    PyArray* self = allocate_object();
    if (!self) return nullptr;
    new (&self->array)
        Array(Array::of({nullptr, layout, static_cast<std::int64_t>(bits), t}, true));
    auto* made = reinterpret_cast<PyObject*>(self);
    become_scalar(made, t);
    return made;
}

/// What the host knows of a value of ours; nothing of all other objects.
inline KnownValue known_value(PyObject* o) {
    if (const KnownValue number = known_number(o)) return number;
    if (Py_TYPE(o) != array_type && !is_scalar(o)) return {};
    const View& v = array_of(o).view();
    if (v.storage) return {};
    return {v.dtype, true, static_cast<std::uint64_t>(v.offset)};
}

/// The number in the bits of an integer dtype but uint64; false for other dtypes.
inline bool integer_of(DType t, std::uint64_t bits, std::int64_t& value) {
    switch (t) {
        case DType::Int64: value = static_cast<std::int64_t>(bits); return true;
        case DType::Int32: value = static_cast<std::int32_t>(bits); return true;
        case DType::Int16: value = static_cast<std::int16_t>(bits); return true;
        case DType::Int8: value = static_cast<std::int8_t>(bits); return true;
        case DType::UInt32: value = static_cast<std::uint32_t>(bits); return true;
        case DType::UInt16: value = static_cast<std::uint16_t>(bits); return true;
        case DType::UInt8: value = static_cast<std::uint8_t>(bits); return true;
        default: return false;
    }
}

/// A Python integer of few digits or a value of an integer dtype: what counts as an index.
inline bool plain_integer(PyObject* o, std::int64_t& value) {
    if (small_integer(o, value)) return true;
    if (Py_TYPE(o) == int_value_type) {
        value = int_of_value(o);
        return true;
    }
    if (Py_TYPE(o) != array_type && !is_scalar(o)) [[likely]]
        return false;
    const View& v = array_of(o).view();
    return !v.storage && integer_of(v.dtype, static_cast<std::uint64_t>(v.offset), value);
}

/// A Python integer as bits of dtype t; false if it does not fit or t is not an integer dtype.
inline bool integer_as(std::int64_t value, DType t, std::uint64_t& bits) {
    auto fits = [&]<class T>(T) {
        bits = static_cast<std::make_unsigned_t<T>>(value);
        return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
    };
    switch (t) {
        case DType::Float64: bits = std::bit_cast<std::uint64_t>(double(value)); return true;
        case DType::Int64: bits = static_cast<std::uint64_t>(value); return true;
        case DType::Int32: return fits(std::int32_t{});
        case DType::Int16: return fits(std::int16_t{});
        case DType::Int8: return fits(std::int8_t{});
        case DType::UInt32: return fits(std::uint32_t{});
        case DType::UInt16: return fits(std::uint16_t{});
        case DType::UInt8: return fits(std::uint8_t{});
        default: return false;
    }
}

/// A Python number or NumPy's float64 beside a value of dtype t, as bits of t; false where the
/// general way decides.
inline bool number_as(PyObject* o, DType t, std::uint64_t& bits) {
    if (PyFloat_CheckExact(o) || Py_TYPE(o) == numpy_float64_type) {
        const double value = PyFloat_AS_DOUBLE(o);
        if (t == DType::Float32 && PyFloat_CheckExact(o)) {  // NumPy's is of float64, as its result
            bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
            return true;
        }
        bits = std::bit_cast<std::uint64_t>(value);
        return t == DType::Float64;
    }
    std::int64_t value;
    return small_integer(o, value) && integer_as(value, t, bits);
}

template <Op op>
inline PyObject* known_result(DType t, std::uint64_t a, std::uint64_t b) noexcept {
    if constexpr (op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Div ||
                  is_comparison(op)) {
        if (t == DType::Float64) {
            const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
            auto number = [](double z) {
                return wrap_value(DType::Float64, std::bit_cast<std::uint64_t>(z));
            };
            auto flag = [](bool z) { return Py_NewRef(truth_object(z)); };
            if constexpr (op == Op::Add) return number(x + y);
            if constexpr (op == Op::Sub) return number(x - y);
            if constexpr (op == Op::Mul) return number(x * y);
            if constexpr (op == Op::Div) return number(x / y);
            if constexpr (op == Op::Lt) return flag(x < y);
            if constexpr (op == Op::Le) return flag(x <= y);
            if constexpr (op == Op::Gt) return flag(x > y);
            if constexpr (op == Op::Ge) return flag(x >= y);
            if constexpr (op == Op::Eq) return flag(x == y);
            if constexpr (op == Op::Ne) return flag(x != y);
        }
    }
    static const KnownOperation* const rows = known_operations(op);
    const KnownOperation& row = rows[static_cast<int>(t)];
    return row.evaluate ? wrap_value(row.result, row.evaluate(a, b)) : nullptr;
}

/// op on two values of one dtype, or on one and a Python number that it takes as it is; null,
/// without an error, for anything else. Not for FloorDiv, whose infinite operands are special.
template <Op op>
inline PyObject* of_known_values(PyObject* a, PyObject* b) noexcept {
    static_assert(op != Op::FloorDiv);
    if (float_errors::is_checked()) [[unlikely]]
        return nullptr;
    const KnownValue x = known_value(a), y = known_value(b);
    std::uint64_t bits;
    if (x && y) {
        if (x.dtype != y.dtype) return nullptr;
        return known_result<op>(x.dtype, x.bits, y.bits);
    }
    if (x && number_as(b, x.dtype, bits)) return known_result<op>(x.dtype, x.bits, bits);
    if (y && number_as(a, y.dtype, bits)) return known_result<op>(y.dtype, bits, y.bits);
    return nullptr;
}

/// As above, of one value.
template <Op op>
inline PyObject* of_known_value(PyObject* a) noexcept {
    if (float_errors::is_checked()) [[unlikely]]
        return nullptr;
    const KnownValue x = known_value(a);
    return x ? known_result<op>(x.dtype, x.bits, 0) : nullptr;
}

}  // namespace unisono::python
