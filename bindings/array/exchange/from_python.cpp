// From Python objects to arrays and operands: numbers, buffers, nested sequences.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "array/exchange/adopt.h"
#include "array/exchange/buffer_format.h"
#include "array/exchange/nested.h"
#include "array/object.h"
#include "context/context.h"
#include "reference.h"
#include "tape/tape.h"

namespace unisono::python {

bool dtype_of_format(const char* format, std::int64_t item_size, DType& t) {
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

namespace {

void release_borrowed(void* owner) {
    auto* view = static_cast<Py_buffer*>(owner);
    PyBuffer_Release(view);
    delete view;
}

/// The elements of packed memory with their bytes in opposite order.
void swap_bytes(char* data, std::int64_t bytes, std::int64_t width) {
    for (char* at = data; at < data + bytes; at += width) std::reverse(at, at + width);
}

/// An array over the memory of a buffer; a copy where strides or alignment do not fit elements, of
/// elements in the other byte order, and of bools that are not 0 or 1.
Array from_buffer(PyObject* o) {
    Ref host;
    if (has_buffer_of_array(o)) {
        host = Ref(PyObject_CallMethod(o, "__array__", nullptr));
        if (!host) python_failed();
        o = host.get();
    }
    auto view = std::make_unique<Py_buffer>();
    if (PyObject_GetBuffer(o, view.get(), PyBUF_RECORDS_RO) < 0) python_failed();
    struct Guard {
        Py_buffer* v;
        ~Guard() {
            if (v) PyBuffer_Release(v);
        }
    } guard{view.get()};
    DType t{};
    if (view->format && std::strncmp(view->format, "T{", 2) == 0) {
        fail(ErrorKind::Type,
             "array: records support neither arithmetic nor comparison; got elements of "
             "buffer format '" +
                 std::string(view->format) + "'; take a field, as in a[\"x\"]");
    }
    const char* format = view->format;
    const bool swapped = format && (*format == '>' || *format == '!');
    if (!dtype_of_format(format + (swapped ? 1 : 0), view->itemsize, t)) {
        fail(ErrorKind::Type, std::string("asarray: elements of buffer format '") +
                                  (view->format ? view->format : "B") +
                                  "' are not supported; convert to bool, an integer of at most 64 "
                                  "bits, a float or a complex dtype first");
    }
    if (view->ndim > 0 && !view->strides) {  // so give NumPy's dates away their bytes
        fail(ErrorKind::Type,
             std::string("array: elements must be numbers; got ") + Py_TYPE(o)->tp_name);
    }
    std::vector<std::int64_t> shape(view->shape, view->shape + view->ndim), strides;
    const auto alignment = static_cast<std::uintptr_t>(size_of(part_dtype(t)));
    bool fits = reinterpret_cast<std::uintptr_t>(view->buf) % alignment == 0 && !swapped;
    for (int k = 0; k < view->ndim; ++k) {
        strides.push_back(view->strides[k] / view->itemsize);
        fits = fits && view->strides[k] % view->itemsize == 0;
    }
    const bool is_bool = t == DType::Bool;
    if (is_bool && fits && !is_memory_map(o))  // files are not read whole
        fits = are_truth_bytes(view->buf, *Layout::make(shape, strides));
    if (!fits) {
        Array a = empty(shape, t, nullptr);
        a.view().storage->allocate();
        if (PyBuffer_ToContiguous(a.view().data(), view.get(), view->len, 'C') < 0) python_failed();
        count(counters().bytes_copied, view->len);
        auto* bytes = reinterpret_cast<std::uint8_t*>(a.view().data());
        for (Py_ssize_t k = 0; is_bool && k < view->len; ++k) bytes[k] = bytes[k] != 0;
        if (swapped) swap_bytes(a.view().data(), view->len, size_of(part_dtype(t)));
        return a;
    }
    const Layout* layout = Layout::make(shape, strides);
    Array made = borrow(view->buf, layout, t, view->readonly, view.get(), release_borrowed);
    guard.v = nullptr;
    view.release();
    return made;
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

PyTypeObject* numpy_float64_type = nullptr;

/// NumPy's float64 scalar, which is a Python float too; found by name, so that NumPy need not be
/// there.
static bool is_numpy_float64(PyObject* o) {
    PyTypeObject*& known = numpy_float64_type;
    if (Py_TYPE(o) == known) return true;
    if (!PyFloat_Check(o) || std::strcmp(Py_TYPE(o)->tp_name, "numpy.float64") != 0) return false;
    known = Py_TYPE(o);
    Py_INCREF(known);  // for good, so that no other type gets its address
    return true;
}

bool operand(PyObject* o, Arg& arg, Array& keep) {
    if (Py_TYPE(o) == array_type) {
        arg = used_array(o).arg();
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
    if (const KnownValue value = known_number(o)) {
        arg = {scalar_operand(value.scalar()), Weak::None};
        return true;
    }
    if (is_scalar(o)) {
        arg = used_array(o).arg();
        return true;
    }
    if (PyBool_Check(o)) {
        arg = {scalar_operand(Scalar::of(DType::Bool, o == Py_True)), Weak::Bool};
        return true;
    }
    if (is_array(o)) {
        arg = used_array(o).arg();
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
        arg = {keep.view(), is_value_object(o) ? Weak::None : Weak::Complex};
        return true;
    }
    return false;
}

void refuse_misfit(PyObject* value, Arg& arg, DType target) {
    const bool is_value = arg.is_scalar() || is_value_object(value) ||
                          (is_array(value) && array_of(value).is_value());
    const DType from = arg.view.dtype;
    if (!is_value || arg.weak != Weak::None || !is_signed(target) || is_complex(from) ||
        promote(from, target) == target) {
        return;
    }
    // Waits for a value that is still to be computed: whether it fits is known afterwards.
    Scalar s = arg.is_scalar() ? arg.scalar() : item(array_of(value));
    arg = {scalar_operand(s), is_float(from) ? Weak::Float : Weak::Int};
}

/// Whether the object has NumPy's protocols of memory and no buffer.
static bool describes_memory(PyObject* o) {
    return !PyType_Check(o) && (PyObject_HasAttrString(o, "__array_interface__") ||
                                PyObject_HasAttrString(o, "__array_struct__"));
}

Array to_array(PyObject* o, bool shared, std::optional<DType> dtype) {
    if (is_array(o) || is_value_object(o)) {
        const Array a = array_in(o);
        if (a.is_known()) return full({}, a.scalar(), nullptr);
        return shared ? a : copy(a);
    }
    Arg arg;
    Array keep;
    if (PyList_Check(o) || PyTuple_Check(o)) return from_nested(o, dtype);
    if (PyByteArray_Check(o)) return shared ? from_buffer(o) : copy(from_buffer(o));
    if (dtype &&
        (PyLong_Check(o) || PyComplex_CheckExact(o) || PyUnicode_Check(o) || PyBytes_Check(o) ||
         (PyFloat_CheckExact(o) && is_integer(*dtype))))  // which may not fit
        return from_nested(o, dtype);
    if (operand(o, arg, keep)) {
        if (arg.weak == Weak::Int && is_float(arg.view.dtype)) too_large("array");
        if (arg.is_scalar()) return full({}, arg.scalar(), nullptr);
        return shared ? Array::of(arg.view) : copy(keep);
    }
    if (Ref theirs(shared_on_device(o)); theirs.p) {
        if (!is_array(theirs.p)) return to_array(theirs.p, shared, dtype);
        const Array a = array_of(theirs.p);
        return shared ? a : copy(a);
    }
    if (PyObject_HasAttrString(o, "__array__")) {
        Ref made(PyObject_CallMethod(o, "__array__", nullptr));
        if (!made.p) python_failed();
        if (PyObject_CheckBuffer(made.p))
            return shared ? from_buffer(made.p) : copy(from_buffer(made.p));
    }
    if (describes_memory(o)) {  // NumPy reads the description, and keeps the object
        Ref numpy(PyImport_ImportModule("numpy"));
        Ref made(numpy.p ? PyObject_CallMethod(numpy.p, "asarray", "O", o) : nullptr);
        if (!made.p) python_failed();
        return shared ? from_buffer(made.p) : copy(from_buffer(made.p));
    }
    if ((PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o)) ||
        (dtype && PyNumber_Check(o)))
        return from_nested(o, dtype);
    fail(ErrorKind::Type, std::string("array: an object of type ") + Py_TYPE(o)->tp_name +
                              " cannot be converted to an array; expected numbers, nested "
                              "sequences of numbers, or an object with the buffer protocol");
}

}  // namespace unisono::python
