// From nested sequences to arrays: first the shape and the common dtype, then the values.
#include "array/exchange/nested.h"

#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "array/exchange/adopt.h"
#include "array/object.h"
#include "library/gather/join.h"
#include "reference.h"

namespace unisono::python {

namespace {

/// Items of a sequence that are not single numbers: arrays, and sequences other than lists.
struct Part {
    Array array;
    Ref list;    ///< of its elements; null: `array` holds them
    Ref object;  ///< kept, so that no other object gets its address
};

struct Nested {
    std::vector<std::int64_t> shape;
    Weak kind = Weak::Bool;
    bool any = false;
    DType typed = DType::Bool;  ///< of array elements met
    bool has_typed = false, has_weak = false;
    bool has_small = false, has_large = false;  ///< integers within int64, and beyond it
    bool given = false;  ///< the dtype: what int() or float() takes is a number too
    bool has_arrays = false;
    std::vector<Part> parts;  ///< in the order in which they are met
    std::size_t next = 0;     ///< of the parts, when the values are taken

    /// The part that this object is, if it is one.
    const Part* take(PyObject* o) {
        return next < parts.size() && parts[next].object.p == o ? &parts[next++] : nullptr;
    }
};

void extend(Nested& n, std::size_t depth, std::int64_t size) {
    if (depth >= max_rank)
        fail(ErrorKind::Value, "array: more than " + std::to_string(max_rank) + " nested levels");
    if (n.shape.size() == depth) {
        if (n.any)
            fail(ErrorKind::Value,
                 "array: ragged nested sequences; all rows must have the same length");
        n.shape.push_back(size);
    } else if (n.shape[depth] != size) {
        fail(ErrorKind::Value, "array: ragged nested sequences; got rows of lengths " +
                                   std::to_string(n.shape[depth]) + " and " + std::to_string(size));
    }
}

void element_at(Nested& n, std::size_t depth) {
    if (n.any && n.shape.size() != depth) {
        fail(ErrorKind::Value,
             "array: ragged nested sequences; numbers and rows are mixed at one level");
    }
    n.any = true;
}

void take_dtype(Nested& n, DType t) {
    n.typed = n.has_typed ? promote(n.typed, t) : t;
    n.has_typed = true;
}

void discover_array(PyObject* o, const Array& a, Nested& n, std::size_t depth) {
    for (std::int64_t size : a.shape()) extend(n, depth++, size);
    element_at(n, depth);
    take_dtype(n, a.dtype());
    n.has_arrays = true;
    n.parts.push_back({a, {}, Ref::of(o)});
}

void discover(PyObject* o, Nested& n, std::size_t depth);

void discover_elements(PyObject* list, Nested& n, std::size_t depth) {
    extend(n, depth, static_cast<std::int64_t>(PySequence_Fast_GET_SIZE(list)));
    // What elements answer may run any code, which may change the list.
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(list); ++k) {
        const Ref item = Ref::of(PySequence_Fast_GET_ITEM(list, k));
        discover(item.p, n, depth + 1);
    }
}

/// Text, None and objects that convert themselves are numbers where the dtype is given.
bool converts(PyObject* o) {
    return o == Py_None || PyUnicode_Check(o) || PyBytes_Check(o) || PyNumber_Check(o);
}

/// As for NumPy, what has items but no length is an element: a number that a class of a program
/// wraps together with arrays.
bool has_length(PyObject* o) {
    if (!PySequence_Check(o)) return false;
    if (PySequence_Size(o) >= 0) return true;
    if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_RecursionError) ||
        PyErr_ExceptionMatches(PyExc_MemoryError))
        python_failed();
    PyErr_Clear();
    return false;
}

void discover_object(PyObject* o, Nested& n, std::size_t depth) {
    if (Ref theirs(shared_on_device(o)); theirs.p && is_array(theirs.p))
        return discover_array(o, array_of(theirs.p), n, depth);
    if (PyObject_HasAttrString(o, "__array__")) {
        Ref made(PyObject_CallMethod(o, "__array__", nullptr));
        if (!made.p) python_failed();
        return discover_array(o, to_array(made.p, true), n, depth);
    }
    if (n.given && converts(o)) return element_at(n, depth);
    if (has_length(o) && !PyUnicode_Check(o) && !PyBytes_Check(o)) {
        Ref list(PySequence_List(o));
        if (!list) python_failed();
        PyObject* elements = list.p;
        n.parts.push_back({{}, std::move(list), Ref::of(o)});
        return discover_elements(elements, n, depth);
    }
    if (n.any && n.shape.size() != depth)
        fail(ErrorKind::Value, std::string("array: the list has an inhomogeneous shape after ") +
                                   std::to_string(depth) + " dimension" + (depth == 1 ? "" : "s") +
                                   "; got " + Py_TYPE(o)->tp_name + " beside rows");
    fail(ErrorKind::Type, std::string("array: elements must be numbers; got ") +
                              Py_TYPE(o)->tp_name +
                              "; with dtype=object NumPy makes its array of objects");
}

void discover(PyObject* o, Nested& n, std::size_t depth) {
    if (PyList_Check(o) || PyTuple_Check(o)) return discover_elements(o, n, depth);
    Arg a;
    Array keep;
    if (!operand(o, a, keep)) return discover_object(o, n, depth);
    if (!a.is_scalar() && a.view.layout->rank() != 0)
        return discover_array(o, is_array(o) ? array_of(o) : keep, n, depth);
    element_at(n, depth);
    if (a.weak == Weak::None) {
        take_dtype(n, a.view.dtype);
    } else {
        n.kind = std::max(n.kind, a.weak);
        n.has_weak = true;
        if (a.weak == Weak::Int) {
            if (is_float(a.view.dtype)) too_large("array");
            n.has_large |= is_unsigned(a.view.dtype);
            n.has_small |= !is_unsigned(a.view.dtype);
        }
    }
}

/// NumPy's dtype of a list: Python numbers count as int64 (uint64 where they need it) and float64;
/// int64 beside uint64 is float64.
DType nested_dtype(const Nested& n) {
    if (!n.any) return DType::Float64;
    DType weak = n.has_large && n.kind == Weak::Int ? DType::UInt64 : default_dtype(n.kind);
    if (weak == DType::UInt64 && n.has_small) weak = DType::Float64;
    if (!n.has_typed) return weak;
    return n.has_weak ? promote(n.typed, weak) : n.typed;
}

/// An element of an integer array: int() of the number, which must fit.
template <class C>
C to_element(PyObject* o) {
    // Our arrays have __index__ whatever their dtype.
    const bool is_index = PyIndex_Check(o) && !(is_array(o) && !is_integer(array_of(o).dtype()));
    Ref number(is_index ? PyNumber_Index(o) : PyNumber_Long(o));
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

double float_of(PyObject* o) {
    if (o == Py_None) return std::numeric_limits<double>::quiet_NaN();
    if (PyUnicode_Check(o) || PyBytes_Check(o)) {
        Ref number(PyFloat_FromString(o));
        if (!number.p) python_failed();
        return PyFloat_AS_DOUBLE(number.p);
    }
    double v = PyFloat_AsDouble(o);
    if (v == -1.0 && PyErr_Occurred()) python_failed();
    return v;
}

Py_complex complex_of(PyObject* o) {
    if (o == Py_None) return {float_of(o), 0};
    if (PyUnicode_Check(o)) {
        Ref number(PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyComplex_Type), o));
        if (!number.p) python_failed();
        return PyComplex_AsCComplex(number.p);
    }
    Py_complex v = PyComplex_AsCComplex(o);
    if (v.real == -1.0 && PyErr_Occurred()) python_failed();
    return v;
}

template <class C>
C value_of(PyObject* o) {
    if constexpr (std::is_same_v<C, std::complex<float>> ||
                  std::is_same_v<C, std::complex<double>>) {
        Py_complex v = complex_of(o);
        using P = typename C::value_type;
        return {static_cast<P>(v.real), static_cast<P>(v.imag)};
    } else if constexpr (std::is_floating_point_v<C> || std::is_same_v<C, Half>) {
        return static_cast<C>(float_of(o));
    } else if constexpr (std::is_same_v<C, bool>) {
        int v = PyObject_IsTrue(o);
        if (v < 0) python_failed();
        return v != 0;
    } else {
        return to_element<C>(o);
    }
}

/// Calls number(o) and array(a) for the elements, in order.
template <class Number, class Whole>
void visit(PyObject* o, Nested& n, const Number& number, const Whole& array) {
    if (const Part* part = n.take(o)) {
        if (!part->list) return array(part->array);
        o = part->list.p;
    } else if (!PyList_Check(o) && !PyTuple_Check(o)) {
        return number(o);
    }
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); ++k) {
        const Ref item = Ref::of(PySequence_Fast_GET_ITEM(o, k));
        visit(item.p, n, number, array);
    }
}

[[noreturn]] void sequence_changed() {
    fail(ErrorKind::Runtime,
         "array: a sequence changed its length while its elements were converted; do not change "
         "it in __float__, __index__ or __array__ of an element");
}

void write_numbers(const Array& to, const std::vector<Ref>& numbers) {
    to.view().storage->allocate();
    dispatch_all(to.dtype(), [&]<class C>() {
        C* at = reinterpret_cast<C*>(to.view().data());
        for (const Ref& o : numbers) *at++ = value_of<C>(o.p);
    });
}

/// Numbers and arrays, in order, one after another.
Array joined(PyObject* o, Nested& n, DType t) {
    std::vector<Array> parts;
    std::vector<Ref> numbers;
    std::vector<std::size_t> of_numbers;  // the parts that have no place of their own
    auto end_numbers = [&] {
        if (numbers.empty()) return;
        of_numbers.push_back(parts.size());
        parts.push_back(empty({{static_cast<std::int64_t>(numbers.size())}}, t, nullptr));
        write_numbers(parts.back(), numbers);
        numbers.clear();
    };
    visit(
        o, n, [&](PyObject* number) { numbers.push_back(Ref::of(number)); },
        [&](const Array& a) {
            end_numbers();
            parts.push_back(reshape(a, {-1}));
        });
    end_numbers();
    std::int64_t wanted = 1, got = 0;
    for (std::int64_t extent : n.shape) wanted *= extent;
    for (const Array& part : parts) got += part.size();
    if (got != wanted) sequence_changed();
    const Array* far = nullptr;
    for (const Array& part : parts) {
        if (!part.view().storage->addressable()) far = &part;
    }
    for (std::size_t k : of_numbers) {
        if (far) parts[k] = to_device(parts[k], far->device());
    }
    return reshape(library::concatenate(parts, 0, t), n.shape);
}

}  // namespace

void too_large(const std::string& what) {
    fail(ErrorKind::Overflow, what + ": a Python integer does not fit in 64 bits; use a float");
}

Array from_nested(PyObject* o, std::optional<DType> wanted) {
    Nested n;
    n.given = wanted.has_value();
    discover(o, n, 0);
    DType t = wanted ? *wanted : nested_dtype(n);
    if (n.has_arrays) return joined(o, n, t);
    Array a = empty(n.shape, t, nullptr);
    a.view().storage->allocate();
    std::int64_t left = a.size();
    dispatch_all(t, [&]<class C>() {
        C* to = reinterpret_cast<C*>(a.view().data());
        visit(
            o, n,
            [&](PyObject* number) {
                if (--left < 0) sequence_changed();
                *to++ = value_of<C>(number);
            },
            [](const Array&) {});
    });
    if (left != 0) sequence_changed();
    return a;
}

}  // namespace unisono::python
