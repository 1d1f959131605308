// Methods of the array type.
#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "array/beside.h"
#include "array/docs.h"
#include "array/exchange/adopt.h"
#include "array/object.h"
#include "array/shape.h"
#include "array/subclasses.h"
#include "functions/by_numpy.h"
#include "integers.h"
#include "library/reduce/extremes.h"
#include "ops/scalar_eval.h"
#include "reference.h"
#include "tape/block.h"
#include "tape/tape.h"

namespace unisono::python {

namespace {

/// Calls a method body that returns an Array, with the line noted.
template <class F>
PyObject* method(F&& f) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        note_line();
        return wrap(f());
    });
}

std::optional<std::vector<int>> to_axes(PyObject* o) {
    if (!o || o == Py_None) return std::nullopt;
    std::vector<int> axes;
    if (is_one_integer(o)) {
        axes.push_back(static_cast<int>(to_int64(o)));
        return axes;
    }
    PyObject* list = PySequence_Fast(o, "axis: expected an integer, a tuple of integers, or None");
    if (!list) throw PythonError{};
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(list); ++k) {
        axes.push_back(static_cast<int>(to_int64(PySequence_Fast_GET_ITEM(list, k))));
    }
    Py_DECREF(list);
    return axes;
}

/// What is seldom called is written in Python: that module's function of that name, with self
/// first.
PyObject* call_python(const char* module_name, const char* name, PyObject* self, PyObject* args,
                      PyObject* names) noexcept {
    // Names are constants of this file; functions live as long as the process.
    static std::unordered_map<const char*, PyObject*> found;
    PyObject* function = kept(found[name], module_name, name);
    PyObject* bound = function ? PyMethod_New(function, self) : nullptr;
    if (!bound) return nullptr;
    PyObject* result = PyObject_Call(bound, args, names);
    Py_DECREF(bound);
    return result;
}

/// unisono.exceptions.AxisError, which is a ValueError and an IndexError.
[[noreturn]] void fail_with_axis(const char* name, int axis, int rank) {
    PyObject* module = PyImport_ImportModule("unisono.exceptions");
    PyObject* kind = module ? PyObject_GetAttrString(module, "AxisError") : nullptr;
    if (kind)
        PyErr_Format(kind, "%s: axis %d is out of bounds for an array of dimension %d", name, axis,
                     rank);
    Py_XDECREF(kind);
    Py_XDECREF(module);
    throw PythonError{};
}

/// Axes that the array has, each once.
std::optional<std::vector<int>> checked_axes(const char* name, PyObject* given, int rank) {
    std::optional<std::vector<int>> axes = to_axes(given);
    for (std::size_t k = 0; axes && k < axes->size(); ++k) {
        int& axis = (*axes)[k];
        if (rank == 0 && (axis == 0 || axis == -1)) continue;
        if (axis < -rank || axis >= rank) fail_with_axis(name, axis, rank);
        if (axis < 0) axis += rank;
        if (std::find(axes->begin(), axes->begin() + static_cast<std::ptrdiff_t>(k), axis) !=
            axes->begin() + static_cast<std::ptrdiff_t>(k))
            fail(ErrorKind::Value, std::string(name) + ": duplicate value in axis; got axis " +
                                       std::to_string(axis) + " twice");
    }
    return axes;
}

/// As NumPy's method: sums and products take a dtype, the others do not.
template <Op op, bool as_bool>
PyObject* full_reduction(PyObject* self, PyObject* args, PyObject* names) noexcept {
    constexpr bool sums = op == Op::Add || op == Op::Mul;
    constexpr const char* format = op == Op::Add   ? "|OOOpOO:sum"
                                   : op == Op::Mul ? "|OOOpOO:prod"
                                   : op == Op::Max ? "|OOpOO:max"
                                   : op == Op::Min ? "|OOpOO:min"
                                   : op == Op::Or  ? "|OOpOO:any"
                                                   : "|OOpOO:all";
    static const char* sum_keys[] = {"axis",    "dtype", "out",  "keepdims",
                                     "initial", "where", nullptr};
    static const char* other_keys[] = {"axis", "out", "keepdims", "initial", "where", nullptr};
    PyObject *axis = Py_None, *dtype = Py_None, *out = Py_None, *initial = Py_None,
             *where = Py_True;
    int keepdims = 0;
    if (PyTuple_GET_SIZE(args) || names) {
        int parsed =
            sums ? PyArg_ParseTupleAndKeywords(args, names, format, const_cast<char**>(sum_keys),
                                               &axis, &dtype, &out, &keepdims, &initial, &where)
                 : PyArg_ParseTupleAndKeywords(args, names, format, const_cast<char**>(other_keys),
                                               &axis, &out, &keepdims, &initial, &where);
        if (!parsed) return nullptr;
    }
    constexpr const char* full = op == Op::Add   ? "full_sum"
                                 : op == Op::Mul ? "full_prod"
                                 : op == Op::Max ? "full_max"
                                 : op == Op::Min ? "full_min"
                                 : op == Op::Or  ? "full_any"
                                                 : "full_all";
    if (out != Py_None || initial != Py_None || where != Py_True) {
        return call_python("unisono._numpy.statistics", full, self, args, names);
    }
    return method([&] {
        std::optional<DType> t;
        if (as_bool) t = DType::Bool;
        if (dtype != Py_None) t = to_dtype(dtype);
        const Array& a = used_array(self);
        auto axes = checked_axes(full + 5, axis, a.rank());
        if (t && is_complex(a.dtype()) && !is_complex(*t) && !is_bool(*t)) warn_of_lost_part();
        if (t == DType::Bool && sums)  // sums and products of truth values
            return reduce(op == Op::Add ? Op::Or : Op::And, a, axes, keepdims != 0, t);
        return reduce(op, a, axes, keepdims != 0, t);
    });
}

/// A method that takes a tuple and a dictionary, called with arguments side by side.
template <PyObject* (*method)(PyObject*, PyObject*, PyObject*)>
PyObject* by_tuple(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    Ref given(PyTuple_New(n)), by_name(named ? PyDict_New() : nullptr);
    if (!given.p || (named && !by_name.p)) return nullptr;
    for (Py_ssize_t k = 0; k < n; ++k) PyTuple_SET_ITEM(given.p, k, Py_NewRef(args[k]));
    for (Py_ssize_t k = 0; k < named; ++k) {
        if (PyDict_SetItem(by_name.p, PyTuple_GET_ITEM(names, k), args[n + k]) < 0) return nullptr;
    }
    return method(self, given.p, by_name.p);
}

/// The same for calls as they usually are: nothing but an axis, if that.
template <Op op, bool as_bool>
PyObject* reduction(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    const bool axis_named =
        named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "axis") == 0;
    const bool one = n + named == 1 && (n == 1 || axis_named);
    const bool over_all = n + named == 0 || (one && args[0] == Py_None);
    const int rank = array_of(self).rank();
    std::int64_t axis = 0;
    if (over_all || (one && small_integer(args[0], axis) && axis >= -rank && axis < rank)) {
        return guarded<PyObject*>(nullptr, [&] {
            std::optional<std::vector<int>> axes;
            std::optional<DType> t;
            if (!over_all) axes = {static_cast<int>(axis)};
            if (as_bool) t = DType::Bool;
            note_line();
            return wrap_made([&] { return reduce(op, used_array(self), axes, false, t); });
        });
    }
    return by_tuple<full_reduction<op, as_bool>>(self, args, n, names);
}

/// Raises where the rule does not allow the conversion; written in Python, as the rules are.
void check_casting(const Array& a, DType to, PyObject* rule) {
    PyObject* module = PyImport_ImportModule("unisono._dtype.functions");
    PyObject* done = module ? PyObject_CallMethod(module, "check_cast", "NNO",
                                                  dtype_object(a.dtype()), dtype_object(to), rule)
                            : nullptr;
    Py_XDECREF(module);
    if (!done) throw PythonError{};
    Py_DECREF(done);
}

PyObject* astype_method(PyObject* self, PyObject* args, PyObject* names) noexcept {
    note_line();
    static const char* keys[] = {"dtype", "order", "casting", "subok", "copy", nullptr};
    PyObject *dtype, *order = nullptr, *casting = nullptr;
    int copy_wanted = 1, subclasses;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|OOpp:astype", const_cast<char**>(keys), &dtype,
                                     &order, &casting, &subclasses, &copy_wanted))
        return nullptr;
    if (casting && PyUnicode_Check(casting) &&
        PyUnicode_CompareWithASCIIString(casting, "same_value") == 0)
        return call_python("unisono._arrays.methods", "astype_same_value", self, args, names);
    bool is_same = false;  // the array itself is what was asked for
    PyObject* made = method([&] {
        const Array& a = used_array(self);
        DType t = to_dtype(dtype);
        is_same = !copy_wanted && !a.is_value() && t == a.dtype() && (!order || lies_in(a, order));
        if (casting) check_casting(a, t, casting);
        if (is_complex(a.dtype()) && !is_complex(t) && !is_bool(t)) warn_of_lost_part();
        if (!order || is_same) return astype(a, t, copy_wanted != 0);
        return copy_in_order(astype(a, t, false), order, a);
    });
    if (made && is_same) {
        Py_DECREF(made);
        return Py_NewRef(self);
    }
    PyObject* const given[] = {self, dtype};
    return made ? made : by_numpy(".astype", given, 2, nullptr);
}

PyObject* fill(PyObject* self, PyObject* value) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Arg arg;
        Array keep;
        Ref theirs(shared_on_device(value));
        if (!operand(theirs.p ? theirs.p : value, arg, keep))
            fail(ErrorKind::Type,
                 std::string("fill: expected a number; got ") + Py_TYPE(value)->tp_name);
        if (!arg.is_scalar() && arg.view.layout->rank() > 0)
            fail(ErrorKind::Value,
                 "fill: expected a number; got an array with axes; assign it "
                 "with x[...] = value");
        warn_if_a_part_is_lost(arg, array_of(self).dtype());
        refuse_misfit(value, arg, array_of(self).dtype());
        note_line();
        const Array& a = used_array(self);
        if (!arg.is_scalar()) {
            keep = Array::of(arg.view);
            bring_beside(a, value, keep);
            arg = keep.arg();
        }
        assign(a, arg);
        Py_RETURN_NONE;
    });
}

/// bytes(x): the elements; of an integer without axes as of Python's integers, so many zeros.
PyObject* to_bytes(PyObject* self, PyObject*) noexcept {
    const Array& a = array_of(self);
    if (a.view().layout->rank() == 0 && (is_integer(a.dtype()) || a.dtype() == DType::Bool)) {
        Ref count(PyNumber_Index(self));
        return count.p ? PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyBytes_Type), count.p)
                       : nullptr;
    }
    return PyObject_CallMethod(self, "tobytes", nullptr);
}

PyObject* to_device_method(PyObject* self, PyObject* args, PyObject* names) noexcept {
    note_line();
    static const char* keys[] = {"device", "stream", nullptr};
    PyObject *device, *stream = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|$O:to_device", const_cast<char**>(keys),
                                     &device, &stream))
        return nullptr;
    return method([&] { return to_device(used_array(self), to_device_pointer(device)); });
}

PyObject* item_method(PyObject* self, PyObject* args) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        Py_ssize_t n = PyTuple_GET_SIZE(args);
        if (n == 0 && array_of(self).size() != 1)
            fail(ErrorKind::Value,
                 "item: can only convert an array of size 1 to a scalar; got shape " +
                     shape_text(array_of(self).shape()) + "; index one element first");
        if (n == 0) return to_python(used_array(self));
        if (std::int64_t at; n == 1 && array_of(self).rank() == 1 &&
                             small_integer(PyTuple_GET_ITEM(args, 0), at) &&
                             !is_complex(array_of(self).dtype()))
            return to_python(element(used_array(self), {&at, 1}));
        Array a = used_array(self);
        std::vector<IndexItem> items;
        PyObject* key =
            n == 1 && PyTuple_Check(PyTuple_GET_ITEM(args, 0)) ? PyTuple_GET_ITEM(args, 0) : args;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(key); ++k) {
            items.push_back({IndexItem::Kind::Integer, to_int64(PyTuple_GET_ITEM(key, k))});
        }
        if (items.size() == 1 && a.rank() != 1) a = reshape(a, {-1});
        return to_python(items.empty() ? a : index(a, items));
    });
}

template <class C>
PyObject* python_number(C value) {
    if constexpr (std::is_floating_point_v<C>)
        return PyFloat_FromDouble(static_cast<double>(value));
    else
        return PyLong_FromLongLong(value);
}

/// A list of the numbers of one row.
template <class C>
PyObject* row_list(const char* data, std::int64_t count, std::int64_t stride) {
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(count));
    if (!list) throw PythonError{};
    const C* from = reinterpret_cast<const C*>(data);
    for (std::int64_t k = 0; k < count; ++k) {
        PyObject* o = python_number(from[k * stride]);
        if (!o) {
            Py_DECREF(list);
            throw PythonError{};
        }
        PyList_SET_ITEM(list, static_cast<Py_ssize_t>(k), o);
    }
    return list;
}

/// Nested lists of the values from the host address on.
PyObject* nested(const char* data, Dims shape, Dims strides, DType t) {
    if (shape.empty()) {
        PyObject* o;
        if (is_complex(t)) {
            o = dispatch_all(t, [&]<class C>() -> PyObject* {
                C v;
                std::memcpy(&v, data, sizeof v);
                const std::complex<double> wide(v);
                return PyComplex_FromDoubles(wide.real(), wide.imag());
            });
        } else {
            Scalar s;
            s.dtype = t;
            std::memcpy(&s.bits, data, static_cast<std::size_t>(size_of(t)));
            o = to_python(s);
        }
        if (!o) throw PythonError{};
        return o;
    }
    if (shape.size() == 1 && t == DType::Float64)
        return row_list<double>(data, shape[0], strides[0]);
    if (shape.size() == 1 && t == DType::Float32)
        return row_list<float>(data, shape[0], strides[0]);
    if (shape.size() == 1 && t == DType::Int64)
        return row_list<std::int64_t>(data, shape[0], strides[0]);
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(shape[0]));
    if (!list) throw PythonError{};
    for (std::int64_t k = 0; k < shape[0]; ++k) {
        PyList_SET_ITEM(
            list, static_cast<Py_ssize_t>(k),
            nested(data + k * strides[0] * size_of(t), shape.subspan(1), strides.subspan(1), t));
    }
    return list;
}

PyObject* tolist(PyObject* self, PyObject*) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        const Array& a = used_array(self);
        if (a.is_known()) return to_python(a.scalar());
        if (!a.device()) return nested(host_data(a, false), a.shape(), a.strides(), a.dtype());
        Array host = to_device(a, nullptr);
        const char* data = host_data(host, false);
        return nested(data, host.shape(), host.strides(), host.dtype());
    });
}

/// numpy.array(self) by way of the buffer protocol; arrays on devices are copied to the host.
PyObject* array_protocol(PyObject* self, PyObject* args, PyObject* names) noexcept {
    static const char* keys[] = {"dtype", "copy", nullptr};
    PyObject *dtype = Py_None, *copy_wanted = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|OO", const_cast<char**>(keys), &dtype,
                                     &copy_wanted))
        return nullptr;
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        const Array& a = used_array(self);
        bool moved = memory_kind(a) == MemoryKind::Device;
        if (moved && copy_wanted == Py_False) {
            fail(ErrorKind::Value, "__array__: an array on " + device_name(a.device()) +
                                       " cannot be seen without a copy");
        }
        PyObject* host = wrap_array(moved ? to_device(a, nullptr) : a);
        PyObject* view = host ? PyMemoryView_FromObject(host) : nullptr;
        Py_XDECREF(host);
        PyObject* numpy = view ? PyImport_ImportModule("numpy") : nullptr;
        PyObject* made =
            numpy ? PyObject_CallMethod(numpy, copy_wanted == Py_True ? "array" : "asarray", "OO",
                                        view, dtype)
                  : nullptr;
        Py_XDECREF(numpy);
        Py_XDECREF(view);
        if (!made) throw PythonError{};
        return made;
    });
}

template <const char* name>
PyObject* in_python(PyObject* self, PyObject* args, PyObject* names) noexcept {
    return call_python("unisono._arrays.exchange.interoperation", name, self, args, names);
}
/// A method that is the function of unisono._numpy.sorting or unisono._numpy.scans.
template <const char* home, const char* name>
PyObject* order_method(PyObject* self, PyObject* args, PyObject* names) noexcept {
    return call_python(home, name, self, args, names);
}
constexpr char sorting_home[] = "unisono._numpy.sorting";
constexpr char scans_home[] = "unisono._numpy.scans";
constexpr char sort_name[] = "sort_in_place";
constexpr char partition_name[] = "partition_in_place";
constexpr char argsort_name[] = "argsort";
constexpr char argpartition_name[] = "argpartition";
constexpr char searchsorted_name[] = "searchsorted";
constexpr char cumsum_name[] = "cumsum";
constexpr char cumprod_name[] = "cumprod";
template <const char* name>
PyObject* statistic(PyObject* self, PyObject* args, PyObject* names) noexcept {
    return call_python("unisono._numpy.statistics", name, self, args, names);
}
/// argmax() and argmin() of one axis; all others as statistics.
template <const char* name, bool largest>
PyObject* extreme_place(PyObject* self, PyObject* args, PyObject* names) noexcept {
    if (PyTuple_GET_SIZE(args) || names || array_of(self).rank() != 1)
        return statistic<name>(self, args, names);
    return method([&] { return library::arg_extreme(used_array(self), 0, largest); });
}
constexpr char mean_name[] = "mean";
constexpr char var_name[] = "var";
constexpr char std_name[] = "std";
constexpr char argmax_name[] = "argmax";
constexpr char argmin_name[] = "argmin";
constexpr char array_ufunc[] = "array_ufunc";
constexpr char reduce_array[] = "reduce_array";
constexpr char reduce_array_ex[] = "reduce_array_ex";

/// Our function for one of NumPy's, or null without a Python error; borrowed.
PyObject* counterpart(PyObject* ufunc) {
    static PyObject* known = nullptr;
    if (!known && !(known = PyDict_New())) return nullptr;
    if (PyObject* ours = PyDict_GetItem(known, ufunc)) return ours;
    PyObject* ours = nullptr;
    PyObject* module = PyImport_ImportModule("unisono._arrays.exchange.interoperation");
    PyObject* found = module ? PyObject_CallMethod(module, "counterpart", "O", ufunc) : nullptr;
    Py_XDECREF(module);
    if (found && found != Py_None && PyDict_SetItem(known, ufunc, found) == 0) ours = found;
    Py_XDECREF(found);
    PyErr_Clear();
    return ours;
}

/// Whether an array of NumPy's is among the operands, and of ours numbers alone.
bool are_numbers_beside_numpys(PyObject* const* operands, Py_ssize_t n) {
    bool beside = false;
    for (Py_ssize_t k = 0; k < n; ++k) {
        if (is_array(operands[k]) && !array_of(operands[k]).is_value()) return false;
        beside |= is_numpys_with_axes(operands[k]);
    }
    return beside;
}

/// A plain call of NumPy's function itself, of its arrays and numbers of ours.
PyObject* called_of_numbers(PyObject* ufunc, PyObject* const* operands, Py_ssize_t n) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        std::vector<Ref> kept;
        std::vector<PyObject*> converted;
        for (Py_ssize_t k = 0; k < n; ++k) {
            kept.emplace_back(as_numpys_number(operands[k]));
            if (!kept.back()) return nullptr;
            converted.push_back(kept.back().p);
        }
        return PyObject_Vectorcall(ufunc, converted.data(), converted.size(), nullptr);
    });
}

/// NumPy asks here for its operators too (one of its scalars times our array): a plain call takes
/// the short way.
PyObject* numpy_ufunc(PyObject* self, PyObject* const* args, Py_ssize_t n,
                      PyObject* names) noexcept {
    static PyObject* const call = PyUnicode_InternFromString("__call__");
    const bool plain = n >= 3 && (!names || PyTuple_GET_SIZE(names) == 0) &&
                       (args[1] == call || (PyUnicode_Check(args[1]) && call &&
                                            PyUnicode_Compare(args[1], call) == 0));
    if (plain && are_numbers_beside_numpys(args + 2, n - 2))
        return called_of_numbers(args[0], args + 2, n - 2);
    PyObject* ours = plain && !any_by_protocol(args + 2, n - 2) ? counterpart(args[0]) : nullptr;
    if (!ours) return by_tuple<in_python<array_ufunc>>(self, args, n, names);
    return PyObject_Vectorcall(ours, args + 2, static_cast<std::size_t>(n - 2), nullptr);
}

PyObject* shallow_copy(PyObject* self, PyObject*) noexcept {
    note_line();
    return method([&] {
        const Array& a = used_array(self);
        return copy_in_order(a, Ref(PyUnicode_InternFromString("K")).p, a);
    });
}

PyObject* format_method(PyObject* self, PyObject* spec) noexcept {
    const Array& a = array_of(self);
    if (a.rank() > 0 && PyUnicode_Check(spec) && PyUnicode_GET_LENGTH(spec) > 0)
        return PyErr_Format(PyExc_TypeError,
                            "unsupported format string passed to unisono.ndarray.__format__; got "
                            "%R: format the elements, or use un.array2string",
                            spec);
    PyObject* value = a.rank() == 0 ? guarded<PyObject*>(nullptr, [&] { return to_python(a); })
                                    : PyObject_Str(self);
    PyObject* text = value ? PyObject_Format(value, spec) : nullptr;
    Py_XDECREF(value);
    return text;
}

template <auto f>
PyCFunction with_keywords() {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

}  // namespace

void warn_of_lost_part() {
    Ref module(PyImport_ImportModule("unisono.exceptions"));
    Ref kind(module.p ? PyObject_GetAttrString(module.p, "ComplexWarning") : nullptr);
    const char* text = "Casting complex values to real discards the imaginary part";
    if (!kind.p || PyErr_WarnEx(kind.p, text, 1) < 0) throw PythonError{};
}

PyObject* transpose_method(PyObject* self, PyObject* args) noexcept {
    return method([&] {
        const Array& a = used_array(self);
        const Py_ssize_t n = PyTuple_GET_SIZE(args);
        if (n == 0 || (n == 1 && PyTuple_GET_ITEM(args, 0) == Py_None))
            return a.is_value() ? a : transpose(a);
        const bool one = n == 1 && !is_one_integer(PyTuple_GET_ITEM(args, 0));
        return transpose(a, *to_axes(one ? PyTuple_GET_ITEM(args, 0) : args));
    });
}

#define REDUCTION_DOC(what)                                                                       \
    what " over `axis` (all axes by default).\n\nParameters\n----------\naxis : int or tuple of " \
         "ints, optional\n"                                                                       \
         "dtype : dtype, optional\n    In which to compute.\nkeepdims : "                         \
         "bool\n\nReturns\n-------\nndarray\n"

static PyObject* to_complex(PyObject* self, PyObject*) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        const std::complex<double> v = complex_item(used_array(self));
        return PyComplex_FromDoubles(v.real(), v.imag());
    });
}

PyMethodDef array_methods[] = {
    {"sum", with_keywords<reduction<Op::Add, false>>(), METH_FASTCALL | METH_KEYWORDS,
     "sum($self, /, axis=None, dtype=None, out=None, keepdims=False, initial=None, "
     "where=True)\n--\n\n" REDUCTION_DOC(
         "Sum; bools and integers are added in int64") "\nExamples\n--------\n>>> import unisono "
                                                       "as un\n>>> int(un.arange(5).sum())\n10\n"},
    {"prod", with_keywords<reduction<Op::Mul, false>>(), METH_FASTCALL | METH_KEYWORDS,
     "prod($self, /, axis=None, dtype=None, out=None, keepdims=False, initial=None, "
     "where=True)\n--\n\n" REDUCTION_DOC("Product")},
    {"max", with_keywords<reduction<Op::Max, false>>(), METH_FASTCALL | METH_KEYWORDS,
     "max($self, /, axis=None, out=None, keepdims=False, initial=None, "
     "where=True)\n--\n\n" REDUCTION_DOC("Maximum; NaN if any is NaN")},
    {"min", with_keywords<reduction<Op::Min, false>>(), METH_FASTCALL | METH_KEYWORDS,
     "min($self, /, axis=None, out=None, keepdims=False, initial=None, "
     "where=True)\n--\n\n" REDUCTION_DOC("Minimum; NaN if any is NaN")},
    {"any", with_keywords<reduction<Op::Or, true>>(), METH_FASTCALL | METH_KEYWORDS,
     "any($self, /, axis=None, out=None, keepdims=False, initial=None, "
     "where=True)\n--\n\n" REDUCTION_DOC("Whether any element is true")},
    {"all", with_keywords<reduction<Op::And, true>>(), METH_FASTCALL | METH_KEYWORDS,
     "all($self, /, axis=None, out=None, keepdims=False, initial=None, "
     "where=True)\n--\n\n" REDUCTION_DOC("Whether all elements are true")},
    {"mean", with_keywords<statistic<mean_name>>(), METH_VARARGS | METH_KEYWORDS,
     "mean($self, /, axis=None, dtype=None, out=None, keepdims=False, *, where=True)\n--\n\n"
     "Arithmetic mean over `axis`; see ``unisono.mean``."},
    {"var", with_keywords<statistic<var_name>>(), METH_VARARGS | METH_KEYWORDS,
     "var($self, /, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, "
     "mean=None, correction=None)\n--\n\n"
     "Variance over `axis`; see ``unisono.var``."},
    {"std", with_keywords<statistic<std_name>>(), METH_VARARGS | METH_KEYWORDS,
     "std($self, /, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, "
     "mean=None, correction=None)\n--\n\n"
     "Standard deviation over `axis`; see ``unisono.std``."},
    {"argmax", with_keywords<extreme_place<argmax_name, true>>(), METH_VARARGS | METH_KEYWORDS,
     "argmax($self, /, axis=None, out=None, *, keepdims=False)\n--\n\n"
     "Index of the first largest element along `axis`; see ``unisono.argmax``."},
    {"argmin", with_keywords<extreme_place<argmin_name, false>>(), METH_VARARGS | METH_KEYWORDS,
     "argmin($self, /, axis=None, out=None, *, keepdims=False)\n--\n\n"
     "Index of the first smallest element along `axis`; see ``unisono.argmin``."},
    {"sort", with_keywords<order_method<sorting_home, sort_name>>(), METH_VARARGS | METH_KEYWORDS,
     "sort($self, /, axis=-1, kind=None, order=None, *, stable=None, descending=False)\n--\n\n"
     "Sorts the array itself along `axis`; see ``unisono.sort``."},
    {"argsort", with_keywords<order_method<sorting_home, argsort_name>>(),
     METH_VARARGS | METH_KEYWORDS,
     "argsort($self, /, axis=-1, kind=None, order=None, *, stable=None, descending=False)\n--\n\n"
     "Indices that sort the array; see ``unisono.argsort``."},
    {"partition", with_keywords<order_method<sorting_home, partition_name>>(),
     METH_VARARGS | METH_KEYWORDS,
     "partition($self, /, kth, axis=-1, kind='introselect', order=None)\n--\n\n"
     "Partitions the array itself along `axis`; see ``unisono.partition``."},
    {"argpartition", with_keywords<order_method<sorting_home, argpartition_name>>(),
     METH_VARARGS | METH_KEYWORDS,
     "argpartition($self, /, kth, axis=-1, kind='introselect', order=None)\n--\n\n"
     "Indices that partition the array; see ``unisono.argpartition``."},
    {"searchsorted", with_keywords<order_method<sorting_home, searchsorted_name>>(),
     METH_VARARGS | METH_KEYWORDS,
     "searchsorted($self, /, v, side='left', sorter=None)\n--\n\n"
     "Indices at which to insert elements into this sorted array; see ``unisono.searchsorted``."},
    {"cumsum", with_keywords<order_method<scans_home, cumsum_name>>(), METH_VARARGS | METH_KEYWORDS,
     "cumsum($self, /, axis=None, dtype=None, out=None)\n--\n\n"
     "Running sum along `axis`; see ``unisono.cumsum``."},
    {"cumprod", with_keywords<order_method<scans_home, cumprod_name>>(),
     METH_VARARGS | METH_KEYWORDS,
     "cumprod($self, /, axis=None, dtype=None, out=None)\n--\n\n"
     "Running product along `axis`; see ``unisono.cumprod``."},
    {"__complex__", to_complex, METH_NOARGS,
     "__complex__($self, /)\n--\n\nThe value as a Python complex."},
    {"astype", with_keywords<astype_method>(), METH_VARARGS | METH_KEYWORDS, docs::astype},
    {"copy", with_keywords<copy_method>(), METH_VARARGS | METH_KEYWORDS, docs::copy},
    {"reshape", with_keywords<reshape_method>(), METH_VARARGS | METH_KEYWORDS, docs::reshape},
    {"transpose", transpose_method, METH_VARARGS, docs::transpose},
    {"ravel", with_keywords<ravel_method>(), METH_VARARGS | METH_KEYWORDS, docs::ravel},
    {"flatten", with_keywords<flatten_method>(), METH_VARARGS | METH_KEYWORDS, docs::flatten},
    {"fill", fill, METH_O, docs::fill},
    {"to_device", with_keywords<to_device_method>(), METH_VARARGS | METH_KEYWORDS, docs::to_device},
    {"item", item_method, METH_VARARGS, docs::item},
    {"tolist", tolist, METH_NOARGS, docs::tolist},
    {"tobytes", with_keywords<tobytes_method>(), METH_VARARGS | METH_KEYWORDS, docs::tobytes},
    {"__bytes__", to_bytes, METH_NOARGS,
     "__bytes__($self, /)\n--\n\n"
     "The elements' bytes, copied from devices; see ``tobytes``."},
    {"__copy__", shallow_copy, METH_NOARGS,
     "__copy__($self, /)\n--\n\n"
     "Same as copy()."},
    {"__deepcopy__", shallow_copy, METH_O,
     "__deepcopy__($self, memo, /)\n--\n\n"
     "Same as copy()."},
    {"__reduce__", with_keywords<in_python<reduce_array>>(), METH_VARARGS | METH_KEYWORDS,
     "__reduce__($self, /)\n--\n\n"
     "Pickle support: shape, dtype and bytes; unpickled on the default device."},
    {"__reduce_ex__", with_keywords<in_python<reduce_array_ex>>(), METH_VARARGS | METH_KEYWORDS,
     "__reduce_ex__($self, protocol, /)\n--\n\n"
     "Pickle support: with protocol 5 the memory is a buffer that may travel apart."},
    {"__array_ufunc__", with_keywords<numpy_ufunc>(), METH_FASTCALL | METH_KEYWORDS,
     "__array_ufunc__($self, ufunc, method, /, *inputs, **options)\n--\n\n"
     "NumPy protocol: NumPy functions of these arrays return these arrays."},
    {"__format__", format_method, METH_O,
     "__format__($self, spec, /)\n--\n\n"
     "Format as a Python number (values) or as a string."},
    {"__array__", with_keywords<array_protocol>(), METH_VARARGS | METH_KEYWORDS,
     "__array__($self, /, dtype=None, copy=None)\n--\n\n"
     "NumPy's conversion protocol."},
    {"__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(dlpack)),
     METH_FASTCALL | METH_KEYWORDS,
     "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A DLPack capsule over the same memory."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\n"
     "DLPack's device type and number."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace unisono::python
