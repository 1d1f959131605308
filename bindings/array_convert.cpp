// From Python objects to arrays, scalars, dtypes, shapes and devices, and back.
#include <cmath>
#include <cstring>
#include <memory>

#include "array_object.h"
#include "core/settings.h"
#include "core/stats.h"
#include "tape/tape.h"

namespace unisono::python {

namespace {

PyObject* dtype_objects[dtype_count] = {};

[[noreturn]] void python_failed() { throw PythonError{}; }

/// A strong reference that is dropped at the end of the scope.
struct Ref {
    PyObject* p;
    explicit Ref(PyObject* given) : p(given) {}
    Ref(const Ref&) = delete;
    Ref& operator=(const Ref&) = delete;
    ~Ref() { Py_XDECREF(p); }
};

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
                                  "bits, float32 or float64 first");
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
    } else if constexpr (std::is_floating_point_v<C>) {
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

std::int64_t to_int64(PyObject* o) {
    Ref number(PyNumber_Index(o));
    if (!number.p) python_failed();
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(number.p, &overflow);
    if (overflow) fail(ErrorKind::Overflow, "integer: a Python integer does not fit in int64");
    if (v == -1 && PyErr_Occurred()) python_failed();
    return v;
}

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

PyObject* to_python(const Array& a) {
    if (!is_complex(a.dtype())) return to_python(item(a));
    const std::complex<double> v = complex_item(a);
    return PyComplex_FromDoubles(v.real(), v.imag());
}

PyObject* to_python(Scalar s) {
    if (is_bool(s.dtype)) return PyBool_FromLong(s.get<bool>());
    if (is_float(s.dtype)) return PyFloat_FromDouble(s.as<double>());
    if (is_unsigned(s.dtype)) return PyLong_FromUnsignedLongLong(s.as<std::uint64_t>());
    return PyLong_FromLongLong(s.as<std::int64_t>());
}

/// NumPy's other names: letters ("d"), kind and bytes ("<f8"), and those of C types.
static bool dtype_from_alias(std::string_view text, DType& t) {
    if (!text.empty() && (text[0] == '<' || text[0] == '=' || text[0] == '|'))
        text.remove_prefix(1);
    for (int k = 0; k < dtype_count; ++k) {
        const DTypeInfo& d = dtype_infos[k];
        std::string short_name = d.kind + std::to_string(d.bytes);
        if (text == std::string_view(&d.letter, 1) || text == short_name) {
            t = static_cast<DType>(k);
            return true;
        }
    }
    static const std::pair<std::string_view, DType> aliases[] = {{"bool_", DType::Bool},
                                                                 {"float", DType::Float64},
                                                                 {"double", DType::Float64},
                                                                 {"single", DType::Float32},
                                                                 {"int", DType::Int64},
                                                                 {"int_", DType::Int64},
                                                                 {"intp", DType::Int64},
                                                                 {"long", DType::Int64},
                                                                 {"longlong", DType::Int64},
                                                                 {"q", DType::Int64},
                                                                 {"p", DType::Int64},
                                                                 {"n", DType::Int64},
                                                                 {"uint", DType::UInt64},
                                                                 {"uintp", DType::UInt64},
                                                                 {"ulong", DType::UInt64},
                                                                 {"ulonglong", DType::UInt64},
                                                                 {"Q", DType::UInt64},
                                                                 {"P", DType::UInt64},
                                                                 {"N", DType::UInt64},
                                                                 {"byte", DType::Int8},
                                                                 {"ubyte", DType::UInt8},
                                                                 {"short", DType::Int16},
                                                                 {"ushort", DType::UInt16},
                                                                 {"intc", DType::Int32},
                                                                 {"uintc", DType::UInt32},
                                                                 {"complex", DType::Complex128},
                                                                 {"cdouble", DType::Complex128},
                                                                 {"csingle", DType::Complex64}};
    for (const auto& [alias, dtype] : aliases) {
        if (text == alias) {
            t = dtype;
            return true;
        }
    }
    return false;
}

DType to_dtype(PyObject* o) {
    for (int k = 0; k < dtype_count; ++k) {
        if (o == dtype_objects[k]) return static_cast<DType>(k);
    }
    if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::Float64;
    if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::Int64;
    if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::Bool;
    if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::Complex128;
    std::string text;
    if (PyUnicode_Check(o)) {
        text = PyUnicode_AsUTF8(o);
    } else {
        // NumPy's dtypes have a name, its scalar types a __name__.
        for (const char* attribute : {"name", "__name__"}) {
            Ref n(PyObject_GetAttrString(o, attribute));
            PyErr_Clear();
            if (n.p && PyUnicode_Check(n.p)) {
                text = PyUnicode_AsUTF8(n.p);
                break;
            }
        }
    }
    bool found = false;
    DType t = dtype_from_name(text, found);
    if (!found) found = dtype_from_alias(text, t);
    if (!found) {
        std::string known;
        for (const auto& d : dtype_infos)
            known += (known.empty() ? "" : ", ") + std::string(d.name);
        fail(ErrorKind::Type, "dtype: '" +
                                  (text.empty() ? std::string(Py_TYPE(o)->tp_name) : text) +
                                  "' is not a dtype of this version; expected one of " + known);
    }
    return t;
}

PyObject* dtype_object(DType t) {
    PyObject* o = dtype_objects[static_cast<int>(t)];
    return Py_NewRef(o ? o : Py_None);
}

static Device* device_named(const std::string& name) {
    if (name == "cpu" || name.empty()) return nullptr;
    Device& d = find_device(name);
    return d.info().name == "cpu" ? nullptr : &d;
}

/// The device of new arrays, looked up again when a setting has changed.
static Device* default_device() {
    static int generation = -1;
    static Device* device = nullptr;
    if (generation != settings_generation()) {
        device = device_named(setting("device"));
        generation = settings_generation();
    }
    return device;
}

Device* to_device_pointer(PyObject* o) {
    if (o == Py_None) return default_device();
    if (is_array(o)) return array_of(o).device();
    if (PyUnicode_Check(o)) return device_named(PyUnicode_AsUTF8(o));
    Ref n(PyObject_GetAttrString(o, "name"));
    if (!n.p || !PyUnicode_Check(n.p)) {
        PyErr_Clear();
        fail(ErrorKind::Type, std::string("device: expected a device, its name, or None; got ") +
                                  Py_TYPE(o)->tp_name);
    }
    return device_named(PyUnicode_AsUTF8(n.p));
}

std::vector<std::int64_t> to_shape(PyObject* o) {
    std::vector<std::int64_t> shape;
    if (PyIndex_Check(o)) {
        shape.push_back(to_int64(o));
    } else {
        Ref list(PySequence_Fast(o, "shape: expected an integer or a sequence of integers"));
        if (!list.p) python_failed();
        Py_ssize_t n = PySequence_Fast_GET_SIZE(list.p);
        if (n > max_rank)
            fail(ErrorKind::Value, "shape: at most 32 axes; got " + std::to_string(n));
        for (Py_ssize_t k = 0; k < n; ++k)
            shape.push_back(to_int64(PySequence_Fast_GET_ITEM(list.p, k)));
    }
    for (auto extent : shape) {
        if (extent < -1)
            fail(ErrorKind::Value,
                 "shape: negative dimensions are not allowed; got " + shape_text(shape));
    }
    return shape;
}

static PyObject* set_dtypes(PyObject*, PyObject* list) noexcept {
    Py_ssize_t n = PySequence_Size(list);
    if (n != dtype_count) {
        PyErr_SetString(PyExc_ValueError, "dtypes: the Python table does not match the engine's");
        return nullptr;
    }
    for (Py_ssize_t k = 0; k < n; ++k) dtype_objects[k] = PySequence_GetItem(list, k);
    Py_RETURN_NONE;
}

static PyObject* dtype_of_object(PyObject*, PyObject* object) noexcept {
    return guarded<PyObject*>(nullptr, [&] { return dtype_object(to_dtype(object)); });
}

/// _promote(a, b): the dtype of both; _promote(a, kind): beside a Python bool, int, float, complex,
/// whose kind counts from 1; a may be None then.
static PyObject* promote_dtypes(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 2) fail(ErrorKind::Internal, "_promote: takes two arguments");
        if (!PyLong_Check(args[1]))
            return dtype_object(promote(to_dtype(args[0]), to_dtype(args[1])));
        auto kind = static_cast<Weak>(to_int64(args[1]));
        return dtype_object(args[0] == Py_None ? default_dtype(kind)
                                               : promote_weak(to_dtype(args[0]), kind));
    });
}

static PyMethodDef conversion_methods[] = {
    {"_promote", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(promote_dtypes)),
     METH_FASTCALL, nullptr},
    {"_dtype_of", dtype_of_object, METH_O, "The dtype object of anything that names a dtype."},
    {"_set_dtypes", set_dtypes, METH_O,
     "Registers the Python dtype objects, in the engine's order."},
    {"_from_dlpack", from_dlpack, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

bool add_conversions(PyObject* module) {
    if (PyModule_AddFunctions(module, conversion_methods) < 0) return false;
    PyObject* names = PyList_New(0);
    for (const auto& d : dtype_infos) {
        PyObject* row = Py_BuildValue("(sCiC)", std::string(d.name).c_str(), d.kind,
                                      static_cast<int>(d.bytes), d.letter);
        if (!row || PyList_Append(names, row) < 0) return false;
        Py_DECREF(row);
    }
    return PyModule_AddObject(module, "_dtypes", names) == 0;
}

}  // namespace unisono::python
