// From nested sequences to arrays: first the shape and the common dtype, then the values.
#include "nested.h"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "array_object.h"
#include "library/join.h"
#include "reference.h"

namespace unisono::python {

namespace {

struct Nested {
    std::vector<std::int64_t> shape;
    Weak kind = Weak::Bool;
    bool any = false;
    DType typed = DType::Bool;  ///< of array elements met
    bool has_typed = false, has_weak = false, has_negative = false,
         has_large = false;  ///< large: beyond int64
};

void survey(PyObject* o, Nested& n, std::size_t depth) {
    if (depth > max_rank) fail(ErrorKind::Value, "array: more than 32 nested levels");
    bool sequence = PyList_Check(o) || PyTuple_Check(o);
    if (sequence) {
        auto size = static_cast<std::int64_t>(PySequence_Fast_GET_SIZE(o));
        if (n.shape.size() == depth) {
            if (n.any)
                fail(ErrorKind::Value,
                     "array: ragged nested sequences; all rows must have the same length");
            n.shape.push_back(size);
        } else if (n.shape[depth] != size) {
            fail(ErrorKind::Value, "array: ragged nested sequences; got rows of lengths " +
                                       std::to_string(n.shape[depth]) + " and " +
                                       std::to_string(size));
        }
        for (std::int64_t k = 0; k < size; ++k)
            survey(PySequence_Fast_GET_ITEM(o, k), n, depth + 1);
        return;
    }
    if (n.any ? n.shape.size() != depth : false) {
        fail(ErrorKind::Value,
             "array: ragged nested sequences; numbers and rows are mixed at one level");
    }
    n.any = true;
    Arg a;
    Array keep;
    if (!operand(o, a, keep) || (!a.is_scalar() && a.view.layout->rank() != 0)) {
        fail(ErrorKind::Type,
             std::string("array: elements must be numbers; got ") + Py_TYPE(o)->tp_name);
    }
    if (a.weak == Weak::None) {
        n.typed = n.has_typed ? promote(n.typed, a.view.dtype) : a.view.dtype;
        n.has_typed = true;
    } else {
        n.kind = std::max(n.kind, a.weak);
        n.has_weak = true;
        if (a.weak == Weak::Int) {
            if (is_float(a.view.dtype)) too_large("array");
            n.has_large |= is_unsigned(a.view.dtype);
            n.has_negative |= is_signed(a.view.dtype) && a.view.offset < 0;
        }
    }
}

/// NumPy's dtype of a list: Python numbers count as int64 (uint64 where they need it) and float64.
DType nested_dtype(const Nested& n) {
    if (!n.any) return DType::Float64;
    DType weak = n.has_large && n.kind == Weak::Int ? DType::UInt64 : default_dtype(n.kind);
    if (weak == DType::UInt64 && n.has_negative) weak = DType::Float64;
    if (!n.has_typed) return weak;
    return n.has_weak ? promote(n.typed, weak) : n.typed;
}

/// An element of an integer array: int() of the number, which must fit.
template <class C>
C to_element(PyObject* o) {
    Ref number(PyIndex_Check(o) ? PyNumber_Index(o) : PyNumber_Long(o));
    if (!number.p) python_failed();
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(number.p, &overflow);
    if (v == -1 && !overflow && PyErr_Occurred()) python_failed();
    if constexpr (std::is_same_v<C, std::uint64_t>) {
        if (overflow > 0) {
            unsigned long long large = PyLong_AsUnsignedLongLong(number.p);
            if (!PyErr_Occurred()) return large;
            PyErr_Clear();
        }
    }
    if (overflow || (std::is_unsigned_v<C> && v < 0) ||
        static_cast<long long>(static_cast<C>(v)) != v) {
        Ref text(PyObject_Str(number.p));
        if (!text.p) python_failed();
        fail(ErrorKind::Overflow, std::string("array: Python integer ") + PyUnicode_AsUTF8(text.p) +
                                      " out of bounds for " +
                                      (std::is_signed_v<C> ? "int" : "uint") +
                                      std::to_string(8 * sizeof(C)) + "; use a wider dtype");
    }
    return static_cast<C>(v);
}

template <class C>
void fill(PyObject* o, C*& to) {
    if (PyList_Check(o) || PyTuple_Check(o)) {
        Py_ssize_t size = PySequence_Fast_GET_SIZE(o);
        for (Py_ssize_t k = 0; k < size; ++k) fill(PySequence_Fast_GET_ITEM(o, k), to);
        return;
    }
    if constexpr (std::is_same_v<C, std::complex<float>> ||
                  std::is_same_v<C, std::complex<double>>) {
        Py_complex v = PyComplex_AsCComplex(o);
        if (v.real == -1.0 && PyErr_Occurred()) python_failed();
        using P = typename C::value_type;
        *to++ = {static_cast<P>(v.real), static_cast<P>(v.imag)};
    } else if constexpr (std::is_floating_point_v<C> || std::is_same_v<C, Half>) {
        double v = PyFloat_AsDouble(o);
        if (v == -1.0 && PyErr_Occurred()) python_failed();
        *to++ = static_cast<C>(v);
    } else if constexpr (std::is_same_v<C, bool>) {
        int v = PyObject_IsTrue(o);
        if (v < 0) python_failed();
        *to++ = v != 0;
    } else {
        *to++ = to_element<C>(o);
    }
}

}  // namespace

void too_large(const std::string& what) {
    fail(ErrorKind::Overflow, what + ": a Python integer does not fit in 64 bits; use a float");
}

Array from_nested(PyObject* o, std::optional<DType> wanted) {
    Nested n;
    survey(o, n, 0);
    DType t = wanted ? *wanted : nested_dtype(n);
    Array a = empty(n.shape, t, nullptr);
    a.view().storage->allocate();
    dispatch_all(t, [&]<class C>() {
        C* to = reinterpret_cast<C*>(a.view().data());
        fill(o, to);
    });
    return a;
}

}  // namespace unisono::python
