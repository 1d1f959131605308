// From Python objects to arrays and operands: numbers, buffers, nested sequences.
#include <cmath>
#include <cstring>
#include <memory>

#include "array_object.h"
#include "core/stats.h"
#include "reference.h"
#include "tape/tape.h"

namespace unisono::python {

namespace {

bool dtype_of_format(const char* format, Py_ssize_t item_size, DType& t) {
    if (!format) format = "B";
    while (*format == '@' || *format == '=' || *format == '<') ++format;
    const bool complex = format[0] == 'Z';
    if (complex) ++format;
    if (format[0] == 0 || format[1] != 0) return false;
    char kind;
    switch (format[0]) {
        case '?': kind = 'b'; break;
        case 'b':
        case 'h':
        case 'i':
        case 'l':
        case 'q':
        case 'n': kind = 'i'; break;
        case 'B':
        case 'H':
        case 'I':
        case 'L':
        case 'Q':
        case 'N': kind = 'u'; break;
        case 'e':
        case 'f':
        case 'd': kind = complex ? 'c' : 'f'; break;
        default: return false;
    }
    if (complex && kind != 'c') return false;
    for (int k = 0; k < dtype_count; ++k) {
        if (dtype_infos[k].kind == kind && dtype_infos[k].bytes == item_size) {
            t = static_cast<DType>(k);
            return true;
        }
    }
    return false;
}

void release_borrowed(void* owner) {
    auto* view = static_cast<Py_buffer*>(owner);
    PyBuffer_Release(view);
    delete view;
}

/// An array over the memory of a buffer; a copy where strides or alignment do not fit elements.
Array from_buffer(PyObject* o) {
    auto view = std::make_unique<Py_buffer>();
    if (PyObject_GetBuffer(o, view.get(), PyBUF_RECORDS_RO) < 0) python_failed();
    struct Guard {
        Py_buffer* v;
        ~Guard() {
            if (v) PyBuffer_Release(v);
        }
    } guard{view.get()};
    DType t{};
    if (!dtype_of_format(view->format, view->itemsize, t)) {
        fail(ErrorKind::Type, std::string("asarray: elements of buffer format '") +
                                  (view->format ? view->format : "B") +
                                  "' are not supported; convert to bool, an integer of at most 64 "
                                  "bits, a float or a complex dtype first");
    }
    std::vector<std::int64_t> shape(view->shape, view->shape + view->ndim), strides;
    const auto alignment = static_cast<std::uintptr_t>(size_of(part_dtype(t)));
    bool fits = reinterpret_cast<std::uintptr_t>(view->buf) % alignment == 0;
    for (int k = 0; k < view->ndim; ++k) {
        strides.push_back(view->strides[k] / view->itemsize);
        fits = fits && view->strides[k] % view->itemsize == 0;
    }
    if (!fits) {
        Array a = empty(shape, t, nullptr);
        a.view().storage->allocate();
        if (PyBuffer_ToContiguous(a.view().data(), view.get(), view->len, 'C') < 0) python_failed();
        count(stats().bytes_copied, view->len);
        return a;
    }
    const Layout* layout = Layout::make(shape, strides);
    // The storage covers all elements; a negative stride reaches below the first one.
    std::int64_t below = -layout->lowest();
    Storage* s = Storage::create(nullptr, (layout->highest() + below + 1) * view->itemsize);
    s->memory = {reinterpret_cast<std::uintptr_t>(view->buf) -
                     static_cast<std::uintptr_t>(below * view->itemsize),
                 s->bytes};
    s->borrowed = true;
    s->readonly = view->readonly;
    s->owner = view.release();
    s->release_owner = release_borrowed;
    guard.v = nullptr;
    return Array::of({s, layout, below, t});
}

// Nested sequences: first the shape and the common kind, then the values.
struct Nested {
    std::vector<std::int64_t> shape;
    Weak kind = Weak::Bool;
    bool any = false;
    DType typed = DType::Bool;  ///< of array elements met
    bool has_typed = false, has_weak = false, has_negative = false,
         has_large = false;  ///< large: beyond int64
};

[[noreturn]] void too_large(const std::string& what) {
    fail(ErrorKind::Overflow, what + ": a Python integer does not fit in 64 bits; use a float");
}

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

}  // namespace

/// A Python integer: int64, beyond it uint64, and beyond that what float() makes of it, which fits
/// no integer dtype.
static Arg integer_operand(PyObject* o) {
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (!overflow) return {scalar_operand(Scalar::of(DType::Int64, v)), Weak::Int};
    unsigned long long large = PyLong_AsUnsignedLongLong(o);
    if (!PyErr_Occurred()) return {scalar_operand(Scalar::of(DType::UInt64, large)), Weak::Int};
    PyErr_Clear();
    double rounded = PyLong_AsDouble(o);
    if (PyErr_Occurred()) python_failed();
    return {scalar_operand(Scalar::of(DType::Float64, rounded)), Weak::Int};
}

/// NumPy's float64 scalar, which is a Python float too; found by name, so that NumPy need not be
/// there.
static bool is_numpy_float64(PyObject* o) {
    static PyTypeObject* known = nullptr;
    if (Py_TYPE(o) == known) return true;
    if (!PyFloat_Check(o) || std::strcmp(Py_TYPE(o)->tp_name, "numpy.float64") != 0) return false;
    known = Py_TYPE(o);
    Py_INCREF(known);  // for good, so that no other type gets its address
    return true;
}

bool operand(PyObject* o, Arg& arg, Array& keep) {
    if (Py_TYPE(o) == array_type) {
        arg = array_of(o).arg();
        return true;
    }
    if (PyFloat_CheckExact(o)) {
        arg = {scalar_operand(Scalar::of(DType::Float64, PyFloat_AS_DOUBLE(o))), Weak::Float};
        return true;
    }
    if (PyLong_CheckExact(o)) {
        arg = integer_operand(o);
        return true;
    }
    if (PyBool_Check(o)) {
        arg = {scalar_operand(Scalar::of(DType::Bool, o == Py_True)), Weak::Bool};
        return true;
    }
    if (is_array(o)) {
        arg = array_of(o).arg();
        return true;
    }
    if (is_numpy_float64(o)) {  // as the buffer below, which takes longer
        arg = {scalar_operand(Scalar::of(DType::Float64, PyFloat_AS_DOUBLE(o))), Weak::None};
        return true;
    }
    if (PyObject_CheckBuffer(o) && !PyBytes_Check(o) && !PyByteArray_Check(o)) {
        keep = from_buffer(o);
        if (keep.rank() == 0 && keep.view().storage->borrowed)
            keep = to_value(keep);  // a NumPy scalar
        arg = keep.arg();
        return true;
    }
    if (PyFloat_Check(o)) {
        arg = {scalar_operand(Scalar::of(DType::Float64, PyFloat_AsDouble(o))), Weak::Float};
        return true;
    }
    if (PyLong_Check(o)) {
        arg = integer_operand(o);
        return true;
    }
    if (PyComplex_Check(o)) {
        // Two doubles do not fit a known scalar: memory of its own.
        const Py_complex v = PyComplex_AsCComplex(o);
        keep = empty({}, DType::Complex128, nullptr);
        keep.view().storage->allocate();
        std::memcpy(keep.view().data(), &v, sizeof v);
        arg = {keep.view(), Weak::Complex};
        return true;
    }
    return false;
}

void refuse_misfit(PyObject* value, Arg& arg, DType target) {
    const bool is_value = arg.is_scalar() || (is_array(value) && array_of(value).is_value());
    const DType from = arg.view.dtype;
    if (!is_value || arg.weak != Weak::None || !is_signed(target) || is_complex(from) ||
        promote(from, target) == target) {
        return;
    }
    // Waits for a value that is still to be computed: whether it fits is known afterwards.
    Scalar s = arg.is_scalar() ? arg.scalar() : item(array_of(value));
    arg = {scalar_operand(s), is_float(from) ? Weak::Float : Weak::Int};
}

Array to_array(PyObject* o, bool shared, std::optional<DType> dtype) {
    if (is_array(o)) {
        const Array& a = array_of(o);
        if (a.is_known()) return full({}, a.scalar(), nullptr);
        return shared ? a : copy(a);
    }
    Arg arg;
    Array keep;
    if (PyList_Check(o) || PyTuple_Check(o)) return from_nested(o, dtype);
    if (dtype && PyLong_Check(o)) return from_nested(o, dtype);
    if (operand(o, arg, keep)) {
        if (arg.weak == Weak::Int && is_float(arg.view.dtype)) too_large("array");
        if (arg.is_scalar()) return full({}, arg.scalar(), nullptr);
        return shared ? Array::of(arg.view) : copy(keep);
    }
    if (PyObject_HasAttrString(o, "__array__")) {
        Ref made(PyObject_CallMethod(o, "__array__", nullptr));
        if (!made.p) python_failed();
        if (PyObject_CheckBuffer(made.p))
            return shared ? from_buffer(made.p) : copy(from_buffer(made.p));
    }
    if (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o)) {
        Ref list(PySequence_List(o));
        if (!list.p) python_failed();
        return from_nested(list.p, dtype);
    }
    fail(ErrorKind::Type, std::string("array: cannot make an array of a ") + Py_TYPE(o)->tp_name +
                              "; expected numbers, nested sequences of numbers, or an object with "
                              "the buffer protocol");
}

}  // namespace unisono::python
