#include "functions/fast_calls.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "array/exchange/adopt.h"
#include "array/object.h"
#include "core/limits.h"
#include "core/threads/parallel.h"
#include "functions/functions.h"
#include "library/gather/histogram.h"
#include "library/gather/join.h"
#include "library/gather/slide.h"
#include "library/reduce/extremes.h"
#include "tape/record/float_errors.h"
#include "tape/tape.h"

namespace unisono::python {

bool Given::sort(std::span<const char* const> keys, PyObject** found) const {
    const auto room = static_cast<Py_ssize_t>(keys.size());
    if (count < 1 || count > room) return false;
    std::fill(found, found + room, nullptr);
    std::copy(args, args + count, found);
    const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t k = 0; k < named; ++k) {
        Py_ssize_t at = count;
        while (at < room &&
               PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, k),
                                                keys[static_cast<std::size_t>(at)]) != 0)
            ++at;
        if (at == room) return false;
        found[at] = args[count + k];
    }
    return true;
}

namespace {

bool given(PyObject* o) { return o && o != Py_None; }

/// Reads a dtype where one is given; false for one that is not of ours, as those with fields, which
/// Python code makes arrays of or refuses.
bool read_dtype(PyObject* o, DType& t) {
    if (!given(o)) return true;
    try {
        t = to_dtype(o);
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// An array of ours other than a value: its elements have an address.
const Array* plain_array(PyObject* o) {
    return o && Py_TYPE(o) == array_type && !array_of(o).is_value() && !is_elsewhere(o)
               ? &array_of(o)
               : nullptr;
}

const Array* plain_array(PyObject* o, int rank) {
    const Array* a = plain_array(o);
    return a && a->rank() == rank ? a : nullptr;
}

Arg number(double value) {
    return {scalar_operand(Scalar::of(DType::Float64, value)), Weak::Float};
}

enum class Fill { None, Zeros, Ones };

Array filled(Dims shape, DType t, Device* device, Fill fill) {
    note_line();
    Array made = empty(shape, t, device);
    if (fill != Fill::None) assign(made, number(fill == Fill::Ones ? 1 : 0));
    return made;
}

template <Fill fill>
PyObject* make(const Given& call) {
    static constexpr const char* keys[] = {"shape", "dtype"};
    PyObject* a[2];
    DType t = DType::Float64;
    if (!call.sort(keys, a) || !read_dtype(a[1], t)) return nullptr;
    return wrap(filled(to_shape(a[0]), t, to_device_pointer(Py_None), fill));
}

template <Fill fill>
PyObject* make_like(const Given& call) {
    static constexpr const char* keys[] = {"a", "dtype"};
    PyObject* a[2];
    if (!call.sort(keys, a)) return nullptr;
    const Array* x = plain_array(a[0]);
    if (!x || !x->view().layout->contiguous()) return nullptr;
    DType t = x->dtype();
    if (!read_dtype(a[1], t)) return nullptr;
    return wrap(filled(x->shape(), t, x->device(), fill));
}

template <bool copies>
PyObject* take(const Given& call) {
    static constexpr const char* keys[] = {copies ? "object" : "a", "dtype"};
    PyObject* a[2];
    if (!call.sort(keys, a)) return nullptr;
    if (!copies && !given(a[1]) && plain_array(a[0])) return Py_NewRef(a[0]);
    const bool is_only = !copies && call.count > 0 && is_unique_temporary(call.args);
    return make_array(a[0], given(a[1]) ? a[1] : Py_None, Py_None, copies ? Py_True : Py_None,
                      is_only ? CopyMode::Adopt : CopyMode::Copy);
}

/// The diagonal of a matrix, `step` elements from one to the next.
Array diagonal_of(const Array& matrix) {
    View v = matrix.view();
    const std::int64_t shape[] = {std::min(matrix.shape()[0], matrix.shape()[1])};
    const std::int64_t strides[] = {matrix.strides()[0] + matrix.strides()[1]};
    v.layout = Layout::make(shape, strides);
    Array made = Array::of(v);
    if (matrix.readonly()) made.set_readonly();
    return made;
}

Array square(std::int64_t n, DType t, Device* device, const Arg& on_diagonal) {
    const std::int64_t shape[] = {n, n};
    Array made = filled(shape, t, device, Fill::Zeros);
    assign(diagonal_of(made), on_diagonal);
    return made;
}

template <bool has_columns>
PyObject* unit_matrix(const Given& call) {
    static constexpr const char* keys[] = {"n", "dtype"};
    PyObject* a[2];
    std::int64_t n = 0;
    if (!call.sort(keys, a) || (has_columns && call.count > 1)) return nullptr;
    if (!PyLong_CheckExact(a[0]) || (n = to_int64(a[0])) < 0) return nullptr;
    DType t = given(a[1]) ? to_dtype(a[1]) : DType::Float64;
    return wrap(square(n, t, to_device_pointer(Py_None), number(1)));
}

PyObject* diagonal_matrix(const Given& call) {
    if (call.count != 1 || call.names) return nullptr;
    if (const Array* v = plain_array(call.args[0], 1))
        return wrap(square(v->size(), v->dtype(), v->device(), v->arg()));
    if (const Array* m = plain_array(call.args[0], 2)) {
        Array made = diagonal_of(*m);
        made.set_readonly();
        return wrap(made);
    }
    return nullptr;
}

PyObject* trace(const Given& call) {
    const Array* m = call.count == 1 && !call.names ? plain_array(call.args[0], 2) : nullptr;
    if (!m) return nullptr;
    note_line();
    return wrap(reduce(Op::Add, diagonal_of(*m), std::nullopt, false));
}

/// hstack and vstack of arrays that differ along one axis alone.
template <bool beside>
PyObject* stacked(const Given& call) {
    if (call.count != 1 || call.names) return nullptr;
    PyObject* given = call.args[0];
    if (!PyList_CheckExact(given) && !PyTuple_CheckExact(given)) return nullptr;
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(given);
    std::vector<Array> arrays;
    arrays.reserve(static_cast<std::size_t>(n));
    for (Py_ssize_t k = 0; k < n; ++k) {
        const Array* x = plain_array(PySequence_Fast_GET_ITEM(given, k));
        if (!x || x->rank() < (beside ? 1 : 2)) return nullptr;
        arrays.push_back(*x);
    }
    if (arrays.empty()) return nullptr;
    const int rank = arrays[0].rank(), axis = beside && rank > 1 ? 1 : 0;
    for (const Array& x : arrays) {
        if (x.rank() != rank) return nullptr;
        for (int a = 0; a < rank; ++a) {
            const auto at = static_cast<std::size_t>(a);
            if (a != axis && x.shape()[at] != arrays[0].shape()[at]) return nullptr;
        }
    }
    note_line();
    return wrap(library::concatenate(arrays, axis, {}));
}

PyObject* concatenated(const Given& call) {
    static constexpr const char* keys[] = {"arrays", "axis"};
    PyObject* a[2];
    if (!call.sort(keys, a) || !(PyList_CheckExact(a[0]) || PyTuple_CheckExact(a[0])))
        return nullptr;
    if (a[1] && !PyLong_CheckExact(a[1])) return nullptr;
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(a[0]);
    PyObject** parts = PySequence_Fast_ITEMS(a[0]);
    if (n == 0) return nullptr;
    std::vector<Array> arrays;
    arrays.reserve(static_cast<std::size_t>(n));
    for (Py_ssize_t k = 0; k < n; ++k) {
        const Array* x = plain_array(parts[k]);
        if (!x || x->rank() == 0) return nullptr;
        arrays.push_back(*x);
    }
    const int rank = arrays[0].rank();
    const std::int64_t axis = a[1] ? to_int64(a[1]) : 0;
    if (axis < -rank || axis >= rank) return nullptr;
    note_line();
    return wrap(library::concatenate(arrays, static_cast<int>(axis < 0 ? axis + rank : axis), {}));
}

PyObject* count_nonzero(const Given& call) {
    const Array* x = call.count == 1 && !call.names ? plain_array(call.args[0]) : nullptr;
    if (!x) return nullptr;
    note_line();
    return wrap(reduce(Op::Add, astype(*x, DType::Bool, false), std::nullopt, false));
}

template <bool largest>
PyObject* extreme_place(const Given& call) {
    const Array* x = call.count == 1 && !call.names ? plain_array(call.args[0], 1) : nullptr;
    if (!x) return nullptr;
    note_line();
    return wrap(library::arg_extreme(*x, 0, largest));
}

/// Host memory with the elements, all computed; null where it is on a device.
const char* elements_of(const Array& a) { return a.device() ? nullptr : host_data(a, false); }

PyObject* bincount(const Given& call) {
    const Array* x = call.count == 1 && !call.names ? plain_array(call.args[0], 1) : nullptr;
    if (!x || x->dtype() != DType::Int64 || x->size() == 0 || x->size() > 100'000) return nullptr;
    const auto* data = reinterpret_cast<const std::int64_t*>(elements_of(*x));
    if (!data) return nullptr;
    const std::int64_t step = x->strides()[0];
    std::int64_t low = data[0], high = data[0];
    for (std::int64_t k = 1; k < x->size(); ++k) {
        low = std::min(low, data[k * step]);
        high = std::max(high, data[k * step]);
    }
    if (low < 0) return nullptr;
    note_line();
    return wrap(library::count_numbers(*x, nullptr, high + 1));
}

PyObject* repeat(const Given& call) {
    const Array* x = call.count == 2 && !call.names ? plain_array(call.args[0], 1) : nullptr;
    if (!x || !PyLong_CheckExact(call.args[1])) return nullptr;
    const std::int64_t times = to_int64(call.args[1]), n = x->size();
    if (times < 0) return nullptr;
    note_line();
    const std::int64_t columns[] = {n, times};
    Array made = empty(columns, x->dtype(), x->device());
    assign(made, reshape(*x, {n, 1}).arg());
    if (n * times == 0) return nullptr;
    return wrap(reshape(made, {n * times}));
}

/// A number among float64 numbers: a Python float or int, or a value of ours.
bool is_number(PyObject* o, double& value) {
    if (PyFloat_CheckExact(o)) {
        value = PyFloat_AS_DOUBLE(o);
        return true;
    }
    if (PyLong_CheckExact(o)) {
        value = PyLong_AsDouble(o);
        if (value == -1.0 && PyErr_Occurred()) PyErr_Clear();
        return value > -0x1p53 && value < 0x1p53;
    }
    if (Py_TYPE(o) != float_value_type) return false;
    value = PyFloat_AS_DOUBLE(o);
    return true;
}

/// float64 elements of one axis in host memory.
struct Line {
    const double* data = nullptr;
    std::int64_t n = 0, step = 1;
    double operator[](std::int64_t k) const { return data[k * step]; }
};

bool as_line(PyObject* o, Line& line) {
    const Array* a = plain_array(o, 1);
    if (!a || a->dtype() != DType::Float64 || a->size() == 0) return false;
    line = {reinterpret_cast<const double*>(elements_of(*a)), a->size(), a->strides()[0]};
    return line.data != nullptr;
}

/// How many elements of a rising line come before x (`right`: or equal it); NaN are last.
std::int64_t place_in(const Line& line, double x, bool right) {
    auto less = [](double a, double b) { return a < b || (b != b && a == a); };
    std::int64_t low = 0, high = line.n;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        const bool before = right ? !less(x, line[middle]) : less(line[middle], x);
        (before ? low : high) = before ? middle + 1 : middle;
    }
    return low;
}

PyObject* search_sorted(const Given& call) {
    static constexpr const char* keys[] = {"a", "v", "side"};
    PyObject* a[3];
    Line line;
    double x;
    if (!call.sort(keys, a) || !a[1] || !is_number(a[1], x)) return nullptr;
    bool right = false;
    if (a[2]) {
        if (!PyUnicode_Check(a[2])) return nullptr;
        right = PyUnicode_CompareWithASCIIString(a[2], "right") == 0;
        if (!right && PyUnicode_CompareWithASCIIString(a[2], "left") != 0) return nullptr;
    }
    if (!as_line(a[0], line)) return nullptr;
    return wrap(Array::known(Scalar::of(DType::Int64, place_in(line, x, right))));
}

/// NumPy's interpolation of one number: between two points by the slope from the first of them, or
/// from the second where that gives NaN.
double between(const Line& xp, const Line& fp, double x) {
    if (xp.n == 1) return fp[0];  // of NaN too
    if (x != x) return x;
    const std::int64_t last = xp.n - 1;
    if (x > xp[last]) return fp[last];
    if (x < xp[0]) return fp[0];
    const std::int64_t j = place_in(xp, x, true) - 1;
    if (j < 0) return fp[0];
    if (j >= last) return fp[last];
    if (xp[j] == x) return fp[j];
    const double slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]);
    double y = slope * (x - xp[j]) + fp[j];
    if (y != y) {
        y = slope * (x - xp[j + 1]) + fp[j + 1];
        if (y != y && fp[j] == fp[j + 1]) y = fp[j];
    }
    return y;
}

PyObject* interpolate(const Given& call) {
    double x;
    Line xp, fp, points;
    if (call.count != 3 || call.names) return nullptr;
    const bool is_one = is_number(call.args[0], x);
    if (!is_one && (!as_line(call.args[0], points) || float_errors::is_checked())) return nullptr;
    if (!as_line(call.args[1], xp) || !as_line(call.args[2], fp) || xp.n != fp.n) return nullptr;
    if (is_one) return wrap(Array::known(Scalar::of(DType::Float64, between(xp, fp, x))));
    note_line();
    const std::int64_t shape[] = {points.n};
    Array made = empty(Dims(shape), DType::Float64, nullptr);
    auto* to = reinterpret_cast<double*>(host_data(made, true));
    parallel_for(0, points.n, limits::thread_elements, [=](std::int64_t first, std::int64_t last) {
        for (std::int64_t k = first; k < last; ++k) to[k] = between(xp, fp, points[k]);
    });
    return wrap(made);
}

/// How many elements come before the first window, and how many windows there are.
bool read_windows(PyObject* mode, std::int64_t n, std::int64_t m, std::int64_t& lead,
                  std::int64_t& count) {
    auto is = [mode](const char* name) {
        return PyUnicode_CompareWithASCIIString(mode, name) == 0;
    };
    if (mode && !PyUnicode_Check(mode)) return false;
    if (!mode || is("full")) {
        lead = m - 1;
        count = n + m - 1;
    } else if (is("same")) {
        lead = m / 2;
        count = n;
    } else if (is("valid")) {
        lead = 0;
        count = n - m + 1;
    } else {
        return false;
    }
    return true;
}

PyObject* convolve(const Given& call) {
    static constexpr const char* keys[] = {"a", "v", "mode"};
    PyObject* found[3];
    if (!call.sort(keys, found)) return nullptr;
    const Array *a = plain_array(found[0], 1), *v = plain_array(found[1], 1);
    if (!a || !v || a->dtype() != v->dtype() || a->device() || v->device()) return nullptr;
    if (a->dtype() != DType::Float64 && a->dtype() != DType::Float32) return nullptr;
    if (v->size() > a->size()) std::swap(a, v);
    std::int64_t lead, count;
    if (v->size() == 0 || v->size() > library::few_terms || float_errors::is_checked() ||
        !read_windows(found[2], a->size(), v->size(), lead, count))
        return nullptr;
    note_line();
    IndexItem backwards{IndexItem::Kind::Slice};
    backwards.step = -1;
    return wrap(library::slide(*a, index(*v, {&backwards, 1}), lead, count));
}

struct Named {
    const char* name;
    ShortCall call;
};
constexpr Named all_calls[] = {
    {"empty", make<Fill::None>},
    {"zeros", make<Fill::Zeros>},
    {"ones", make<Fill::Ones>},
    {"empty_like", make_like<Fill::None>},
    {"zeros_like", make_like<Fill::Zeros>},
    {"ones_like", make_like<Fill::Ones>},
    {"array", take<true>},
    {"asarray", take<false>},
    {"eye", unit_matrix<true>},
    {"identity", unit_matrix<false>},
    {"diag", diagonal_matrix},
    {"trace", trace},
    {"concatenate", concatenated},
    {"convolve", convolve},
    {"hstack", stacked<true>},
    {"vstack", stacked<false>},
    {"count_nonzero", count_nonzero},
    {"argmax", extreme_place<true>},
    {"argmin", extreme_place<false>},
    {"bincount", bincount},
    {"repeat", repeat},
    {"searchsorted", search_sorted},
    {"interp", interpolate},
};

}  // namespace

ShortCall short_call(const char* name) {
    for (const Named& known : all_calls) {
        if (std::strcmp(known.name, name) == 0) return known.call;
    }
    return nullptr;
}

}  // namespace unisono::python
