// The array's methods that give the same elements another shape or order in memory: reshape, ravel,
// flatten, copy.
#include "array/shape.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>
#include <vector>

#include "array/exchange/adopt.h"

namespace unisono::python {

namespace {

template <class F>
PyObject* recorded(F&& f) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        note_line();
        return wrap(f());
    });
}

[[noreturn]] void refuse_order(const char* what, std::string_view allowed, PyObject* o,
                               const char* text) {
    std::string expected, got = text ? std::string("'") + text + "'"
                                     : std::string("an object of type ") + Py_TYPE(o)->tp_name;
    for (char letter : allowed)
        expected += std::string(expected.empty() ? "'" : ", '") + letter + "'";
    if (PyLong_Check(o))
        got += "; give the shape as one tuple, as in " + std::string(what) + "(a, (2, 3))";
    fail(text ? ErrorKind::Value : ErrorKind::Type,
         std::string(what) + ": order must be one of " + expected + "; got " + got);
}

/// The letter of an ``order=`` argument, one of `allowed`.
char to_order(PyObject* o, const char* what, std::string_view allowed) {
    const char* text = o && PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : nullptr;
    if (!o || o == Py_None) return 'C';
    const char letter =
        static_cast<char>(text ? std::toupper(static_cast<unsigned char>(*text)) : 0);
    if (!letter || std::strlen(text) != 1 || allowed.find(letter) == std::string_view::npos)
        refuse_order(what, allowed, o, text);
    return letter;
}

Array reversed_axes(const Array& a) {
    std::vector<int> axes;
    for (int k = a.rank() - 1; k >= 0; --k) axes.push_back(k);
    return transpose(a, axes);
}

bool is_column_major(const Array& a) {
    return !a.is_known() && !a.view().layout->contiguous() &&
           reversed_axes(a).view().layout->contiguous();
}

/// The axes from the largest stride to the smallest, as NumPy's order 'K' sorts them: from the last
/// axis on each goes past those of smaller strides, and nothing is decided by strides of 0.
std::vector<int> axes_by_stride(const Array& a) {
    auto step = [&](int k) { return std::abs(a.strides()[static_cast<std::size_t>(k)]); };
    std::vector<int> nearest_first;
    for (int k = a.rank() - 1; k >= 0; --k) {
        std::size_t place = nearest_first.size();
        for (std::size_t i = place; i-- > 0;) {
            const std::int64_t near = step(nearest_first[i]), mine = step(k);
            if (near == 0 || mine == 0) continue;
            if (near <= mine) break;
            place = i;
        }
        nearest_first.insert(nearest_first.begin() + static_cast<std::ptrdiff_t>(place), k);
    }
    return {nearest_first.rbegin(), nearest_first.rend()};
}

/// The array with axes such that row-major order is `order` of the given one.
Array in_order(const Array& a, char order) {
    if (order == 'F' || (order != 'C' && is_column_major(a))) return reversed_axes(a);
    if (order != 'K' || a.rank() < 2) return a;
    return transpose(a, axes_by_stride(a));
}

/// ravel and flatten: all elements in an order; `copies` says whether memory is always new.
template <bool copies>
PyObject* in_one_axis(PyObject* self, PyObject* args, PyObject* names) noexcept {
    note_line();
    static const char* keys[] = {"order", nullptr};
    PyObject* order = nullptr;
    if ((PyTuple_GET_SIZE(args) || names) &&
        !PyArg_ParseTupleAndKeywords(args, names, copies ? "|O:flatten" : "|O:ravel",
                                     const_cast<char**>(keys), &order))
        return nullptr;
    return recorded([&] {
        Array a = in_order(used_array(self), to_order(order, copies ? "flatten" : "ravel", "CFAK"));
        bool packed = a.is_known() || a.view().layout->contiguous();
        return reshape(packed && !copies ? a : copy(a), {a.size()});
    });
}

}  // namespace

bool lies_in(const Array& a, PyObject* order) {
    const char letter = to_order(order, "astype", "CFAK");
    if (letter == 'K' || a.is_known()) return true;
    const bool rows = a.view().layout->contiguous();
    const bool columns = reversed_axes(a).view().layout->contiguous();
    return letter == 'C' ? rows : letter == 'F' ? columns : rows || columns;
}

Array copy_in_order(const Array& a, PyObject* order, const Array& like) {
    char letter = to_order(order, "copy", "CFAK");
    if (letter == 'K' && like.rank() > 2 && !like.is_known() && like.rank() == a.rank()) {
        const std::vector<int> axes = axes_by_stride(like);
        std::vector<int> back(axes.size());
        for (std::size_t k = 0; k < axes.size(); ++k)
            back[static_cast<std::size_t>(axes[k])] = static_cast<int>(k);
        return std::is_sorted(axes.begin(), axes.end()) ? copy(a)
                                                        : transpose(copy(transpose(a, axes)), back);
    }
    bool columns = letter == 'F' || (letter != 'C' && is_column_major(like));
    return columns ? reversed_axes(copy(reversed_axes(a))) : copy(a);
}

PyObject* copy_method(PyObject* self, PyObject* args, PyObject* names) noexcept {
    note_line();
    static const char* keys[] = {"order", nullptr};
    PyObject* order = nullptr;
    if ((PyTuple_GET_SIZE(args) || names) &&
        !PyArg_ParseTupleAndKeywords(args, names, "|O:copy", const_cast<char**>(keys), &order))
        return nullptr;
    return recorded([&] { return copy_in_order(used_array(self), order, used_array(self)); });
}

PyObject* tobytes_method(PyObject* self, PyObject* args, PyObject* names) noexcept {
    static const char* keys[] = {"order", nullptr};
    PyObject* order = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|O:tobytes", const_cast<char**>(keys), &order))
        return nullptr;
    return guarded<PyObject*>(nullptr, [&] {
        // In the order of the array as it lies: a copy from a device is packed.
        Array a = to_device(in_order(used_array(self), to_order(order, "tobytes", "CFA")), nullptr);
        if (!a.view().layout->contiguous()) a = copy(a);
        return PyBytes_FromStringAndSize(host_data(a, false),
                                         static_cast<Py_ssize_t>(a.size() * size_of(a.dtype())));
    });
}

PyObject* reshape_method(PyObject* self, PyObject* args, PyObject* names) noexcept {
    note_line();
    static const char* keys[] = {"order", "copy", nullptr};
    PyObject *order = nullptr, *copy_wanted = Py_None;
    PyObject* none = PyTuple_New(0);
    bool parsed =
        !names || PyArg_ParseTupleAndKeywords(none, names, "|$OO:reshape", const_cast<char**>(keys),
                                              &order, &copy_wanted);
    Py_XDECREF(none);
    if (!parsed) return nullptr;
    return recorded([&] {
        Py_ssize_t n = PyTuple_GET_SIZE(args);
        if (n == 0) fail(ErrorKind::Type, "reshape: needs a shape");
        std::vector<std::int64_t> shape = to_shape(n == 1 ? PyTuple_GET_ITEM(args, 0) : args);
        const Array& a = used_array(self);
        char letter = to_order(order, "reshape", "CFA");
        bool columns = letter == 'F' || (letter == 'A' && is_column_major(a));
        if (columns) std::reverse(shape.begin(), shape.end());
        Array from = columns ? reversed_axes(a) : a;
        refuse_text_as_copy("reshape", copy_wanted);
        bool must_copy = copy_wanted != Py_None && PyObject_IsTrue(copy_wanted);
        Array made = reshape(must_copy ? copy(from) : from, shape);
        if (copy_wanted != Py_None && !must_copy && made.view().storage != a.view().storage)
            fail(ErrorKind::Value,
                 "reshape: a view of that shape is not possible; got copy=False for strides that "
                 "need a copy");
        return columns ? reversed_axes(made) : made;
    });
}

int set_shape(PyObject* self, PyObject* value, void*) noexcept {
    return guarded(-1, [&] {
        auto refuse = [](const std::string& why) {
            PyErr_SetString(PyExc_AttributeError, ("shape: " + why).c_str());
            return -1;
        };
        Array& a = reinterpret_cast<PyArray*>(self)->array;
        if (!value) return refuse("cannot be deleted");
        if (a.is_value()) return refuse("a value has none to set; use .reshape()");
        std::vector<std::int64_t> shape = to_shape(value);
        note_line();
        Array made = reshape(a, shape);
        if (made.view().storage != a.view().storage) {
            return refuse("incompatible shape: these strides allow no view of shape " +
                          shape_text(shape) + "; use .reshape(), which makes a copy");
        }
        a = std::move(made);
        return 0;
    });
}

PyObject* ravel_method(PyObject* self, PyObject* args, PyObject* names) noexcept {
    return in_one_axis<false>(self, args, names);
}

PyObject* flatten_method(PyObject* self, PyObject* args, PyObject* names) noexcept {
    return in_one_axis<true>(self, args, names);
}

}  // namespace unisono::python
