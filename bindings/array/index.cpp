// Indexing: basic indices become views, a full integer index becomes a value, arrays of indices and
// masks select copies.
#include <cstring>
#include <vector>

#include "array/beside.h"
#include "array/elements.h"
#include "array/exchange/adopt.h"
#include "array/object.h"
#include "array/plain_view.h"
#include "core/limits.h"
#include "functions/by_numpy.h"
#include "library/gather/index.h"
#include "primitives/primitive.h"
#include "reference.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono::python {

namespace {

std::int64_t to_index(PyObject* o) {
    std::int64_t small;
    if (small_integer(o, small)) return small;
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) fail(ErrorKind::Index, "index: the integer does not fit in an index");
    return v;
}

bool one_item(PyObject* o, IndexItem& item) {
    using Kind = IndexItem::Kind;
    if (PyLong_CheckExact(o) || Py_TYPE(o) == int_value_type) {
        item = {Kind::Integer};
        item.start = to_index(o);
        return true;
    }
    if (PySlice_Check(o)) {
        auto* s = reinterpret_cast<PySliceObject*>(o);
        item = {Kind::Slice};
        auto part = [](PyObject* p, std::int64_t& value) {
            if (p == Py_None) return false;
            Py_ssize_t v;
            if (!_PyEval_SliceIndex(p, &v)) throw PythonError{};  // clips like a list's slice
            value = v;
            return true;
        };
        item.has_start = part(s->start, item.start);
        item.has_stop = part(s->stop, item.stop);
        part(s->step, item.step);
        return true;
    }
    if (o == Py_None) {
        item = {Kind::NewAxis};
        return true;
    }
    if (o == Py_Ellipsis) {
        item = {Kind::Ellipsis};
        return true;
    }
    if (PyBool_Check(o) || PyFloat_Check(o) || !PyIndex_Check(o)) return false;
    // NumPy's arrays can be assigned to, its scalars cannot: a 0-d array gives a copy.
    bool scalar = !Py_TYPE(o)->tp_as_mapping || !Py_TYPE(o)->tp_as_mapping->mp_ass_subscript;
    if (is_array(o) ? !array_of(o).is_value() || !is_integer(array_of(o).dtype()) : !scalar)
        return false;
    PyObject* number = PyNumber_Index(o);
    if (!number) {
        PyErr_Clear();  // an array of another library
        return false;
    }
    item = {Kind::Integer};
    item.start = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (item.start == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        fail(ErrorKind::Index, "index: the integer does not fit in an index");
    }
    return true;
}

}  // namespace

int parse_index(PyObject* key, IndexItem* items, int& integers) {
    PyObject* const* parts = &key;
    Py_ssize_t n = 1;
    if (PyTuple_Check(key)) {
        parts = reinterpret_cast<PyTupleObject*>(key)->ob_item;
        n = PyTuple_GET_SIZE(key);
    }
    if (n > most_index_items)
        fail(ErrorKind::Index, "index: too many indices; got " + std::to_string(n));
    integers = 0;
    for (Py_ssize_t k = 0; k < n; ++k) {
        if (!one_item(parts[k], items[k])) return -1;
        if (items[k].kind == IndexItem::Kind::Integer) ++integers;
    }
    return static_cast<int>(n);
}

namespace {

/// Reads a key of as many integers as the array has axes, without detours.
bool all_integers(PyObject* key, const Array& a, std::int64_t* index) {
    auto rank = static_cast<Py_ssize_t>(a.rank());
    if (PyLong_CheckExact(key) && rank == 1) {
        index[0] = to_index(key);
        return true;
    }
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != rank || rank == 0) return false;
    for (Py_ssize_t k = 0; k < rank; ++k) {
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(key, k))) return false;
        index[k] = to_index(PyTuple_GET_ITEM(key, k));
    }
    return true;
}

/// A Python number as an operand, without a call.
bool plain_number(PyObject* o, Arg& arg) {
    if (plain_operand(o, arg)) return arg.is_scalar();
    std::int64_t value;
    if (!small_integer(o, value)) return false;
    arg = {scalar_operand({static_cast<std::uint64_t>(value), DType::Int64}), Weak::Int};
    return true;
}

[[noreturn]] void no_index(PyObject* o) {
    fail(ErrorKind::Index,
         std::string("index: only integers, slices (`:`), ellipsis (`...`), None and integer or "
                     "boolean arrays are indices; got ") +
             Py_TYPE(o)->tp_name);
}

/// Whether some elements of a sequence are lists or tuples and others, such as slices, are not.
bool is_ragged(PyObject* sequence) {
    Ref elements(PySequence_List(sequence));
    if (!elements.p) python_failed();
    const Py_ssize_t n = PyList_GET_SIZE(elements.p);
    Py_ssize_t nested = 0;
    for (Py_ssize_t k = 0; k < n; ++k) {
        PyObject* o = PyList_GET_ITEM(elements.p, k);
        nested += PyList_Check(o) || PyTuple_Check(o);
    }
    return nested > 0 && nested < n;
}

/// An index array: bools and integers, sequences of them, or the arrays of other libraries.
Array index_array(PyObject* o) {
    if (PyBool_Check(o)) return Array::known(Scalar::of(DType::Bool, o == Py_True));
    if (PyUnicode_Check(o) || PyFloat_Check(o) || PyBytes_Check(o)) no_index(o);
    if (is_array(o)) return used_array(o);
    if (Ref theirs(shared_on_device(o)); theirs.p && is_array(theirs.p)) return array_of(theirs.p);
    Arg arg;
    Array keep;
    bool sequence = PySequence_Check(o) && !PyObject_CheckBuffer(o);
    Array made;
    try {
        if (!sequence && !operand(o, arg, keep) && !PyObject_HasAttrString(o, "__array__"))
            no_index(o);
        made = to_array(o, true);
    } catch (const Error& e) {
        const bool ragged = sequence && is_ragged(o);
        if (e.kind() != ErrorKind::Type && !(ragged && e.kind() == ErrorKind::Value)) throw;
        if (ragged)
            fail(ErrorKind::Value,
                 "index: the list has an inhomogeneous shape after 1 dimension; got lists beside "
                 "other elements; write a tuple, as in a[[0, 1], :], to index several axes");
        if (sequence) no_index(o);  // [slice(None)], ["a"]
        fail(ErrorKind::Index,
             std::string("index: arrays used as indices must be of integer (or boolean) type; ") +
                 e.what());
    }
    // An empty list has no dtype: it selects nothing.
    if (sequence && made.size() == 0 && is_float(made.dtype()))
        made = astype(made, DType::Int64, false);
    return made;
}

/// The parts of a key of `a` that holds arrays; a 0-d array of integers indexes as an integer.
std::vector<library::IndexPart> index_parts(const Array& of, PyObject* key) {
    PyObject* const* items = &key;
    Py_ssize_t n = 1;
    if (PyTuple_Check(key)) {
        items = reinterpret_cast<PyTupleObject*>(key)->ob_item;
        n = PyTuple_GET_SIZE(key);
    }
    std::vector<library::IndexPart> parts(static_cast<std::size_t>(n));
    for (Py_ssize_t k = 0; k < n; ++k) {
        auto& part = parts[static_cast<std::size_t>(k)];
        if (one_item(items[k], part.basic)) continue;
        Array a = index_array(items[k]);
        if (a.rank() == 0 && is_integer(a.dtype())) {
            part.basic = {IndexItem::Kind::Integer};
            part.basic.start = item(a).as<std::int64_t>();
            continue;
        }
        bring_beside(of, items[k], a);
        part.is_array = true;
        part.array = std::move(a);
    }
    return parts;
}

std::vector<IndexItem> basic_items(const std::vector<library::IndexPart>& parts, int& integers) {
    std::vector<IndexItem> items;
    integers = 0;
    for (const auto& p : parts) {
        if (p.is_array) return {};
        items.push_back(p.basic);
        integers += p.basic.kind == IndexItem::Kind::Integer;
    }
    return items;
}

Array basic_get(const Array& a, std::span<const IndexItem> items, int integers) {
    if (a.is_known()) {
        if (items.empty()) return a;
        return index(materialised(a), items);
    }
    Array view = index(a, items);
    bool full = static_cast<std::size_t>(integers) == items.size() && view.rank() == 0;
    return full ? to_value(view) : view;
}

void basic_set(const Array& a, std::span<const IndexItem> items, int integers, const Arg& arg) {
    Array target = index(a, items);
    bool full = static_cast<std::size_t>(integers) == items.size() && target.rank() == 0;
    // NumPy takes such a value's truth, but not its number.
    bool sequence = !arg.is_scalar() && arg.view.layout->rank() > 0;
    bool has_truth = is_bool(a.dtype()) && sequence && arg.view.layout->size() == 1;
    if (full && sequence && !has_truth) {
        fail(ErrorKind::Value,
             "index: setting an array element with a sequence; got a value of shape " +
                 shape_text(arg.view.layout->shape()) + ", expected one number");
    }
    if (target.rank() == 0 && arg.is_scalar()) {
        set_item(target, arg);
    } else {
        assign(target, arg);
    }
}

/// a[index] by the shortcut of few elements; false where there is more to it.
bool picked(const Array& a, PyObject* key, Array& made) {
    if (Py_TYPE(key) != array_type || !Tape::current().runs_eagerly()) return false;
    const Array& index = array_of(key);
    return !a.is_known() && !index.is_known() && library::take_few(a, index, made);
}

PyObject* get(PyObject* self, PyObject* key) noexcept {
    const View& whole = array_of(self).view();
    if (std::int64_t place; !is_elsewhere(self) && element_place(key, whole, place)) {
        if (PyObject* made = read_place(whole, place)) return made;
    }
    return guarded<PyObject*>(nullptr, [&] {
        const Array& a = used_array(self);
        if (View view; plain_view(key, a, view)) {
            return wrap_made([&] {
                Array made = Array::of(view);
                if (a.readonly()) made.set_readonly();
                return made;
            });
        }
        if (std::int64_t at[max_rank]; all_integers(key, a, at))
            return wrap_made([&] { return element(a, {at, static_cast<std::size_t>(a.rank())}); });
        note_line();
        if (Array made; picked(array_of(self), key, made)) return wrap(std::move(made));
        return wrap(get_index(used_array(self), key));
    });
}

/// self[key] = value, which failed: NumPy's text, dates and objects as numbers of the dtype.
[[gnu::cold, gnu::noinline]] int set_numpys(PyObject* self, PyObject* key,
                                            PyObject* value) noexcept {
    if (is_array(value) || !PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
    const Ref dtype(
        guarded<PyObject*>(nullptr, [&] { return dtype_object(array_of(self).dtype()); }));
    PyObject* const given[] = {value, dtype.get()};
    const Ref made(dtype.get() ? by_numpy("assignment", given, 2, nullptr) : nullptr);
    return made.get() ? PyObject_SetItem(self, key, made.get()) : -1;
}

int set(PyObject* self, PyObject* key, PyObject* value) noexcept {
    if (!value) {
        PyErr_SetString(PyExc_TypeError,
                        "index: cannot delete array elements; arrays have a fixed size");
        return -1;
    }
    std::int64_t place;
    if (!is_elsewhere(self) && element_place(key, array_of(self).view(), place) &&
        write_place(array_of(self), place, value))
        return 0;
    const int failed = guarded(-1, [&] {
        const Array& a = used_array(self);
        std::int64_t at[max_rank];
        Arg given;
        const bool number = plain_number(value, given);
        if (number && all_integers(key, a, at) &&
            write_element(a, {at, static_cast<std::size_t>(a.rank())}, given)) {
            return 0;
        }
        note_line();
        View view;
        if ((number || Py_TYPE(value) == array_type) && !a.readonly() && plain_view(key, a, view)) {
            // Python's a[i:] += b ends by assigning the view to itself.
            if (!number && given.view.same_as(view)) return 0;
            warn_if_a_part_is_lost(given, view.dtype);
            if (is_integer(view.dtype)) refuse_misfit(value, given, view.dtype);
            assign(Array::of(view), given);
            return 0;
        }
        set_index(used_array(self), key, value);
        return 0;
    });
    return failed ? set_numpys(self, key, value) : 0;
}

Py_ssize_t length(PyObject* self) noexcept {
    const Array& a = array_of(self);
    if (a.rank() == 0) {
        PyErr_SetString(PyExc_TypeError, "len: a 0-d array has no length");
        return -1;
    }
    return static_cast<Py_ssize_t>(a.shape()[0]);
}

PyObject* sequence_item(PyObject* self, Py_ssize_t i) noexcept {
    const View& v = array_of(self).view();
    if (v.storage && v.layout->rank() == 1 && i >= 0 && i < v.layout->size() &&
        !is_elsewhere(self)) {
        if (PyObject* made = read_place(v, v.offset + i * v.layout->strides()[0])) return made;
    }
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        const Array& a = used_array(self);
        if (a.rank() > 0 && (i < 0 || i >= a.shape()[0])) {  // so ends every iteration: quickly
            PyErr_Format(PyExc_IndexError, "index: %zd is out of bounds for axis 0 of extent %lld",
                         i, static_cast<long long>(a.shape()[0]));
            return nullptr;
        }
        if (a.rank() == 1) {
            std::int64_t at = i;
            return wrap(element(a, {&at, 1}));
        }
        IndexItem item{IndexItem::Kind::Integer};
        item.start = i;
        note_line();
        Array view = index(array_of(self), {&item, 1});
        return wrap(view.rank() == 0 ? to_value(view) : std::move(view));
    });
}

/// NumPy's `in`: whether any element equals.
int contains(PyObject* self, PyObject* value) noexcept {
    note_line();
    PyObject* equal = PyObject_RichCompare(self, value, Py_EQ);
    if (!equal) return -1;
    int found = is_array(equal) ? guarded(-1,
                                          [&] {
                                              Array any = reduce(Op::Or, array_of(equal),
                                                                 std::nullopt, false, DType::Bool);
                                              return item(any).get<bool>() ? 1 : 0;
                                          })
                                : PyObject_IsTrue(equal);
    Py_DECREF(equal);
    return found;
}

PyObject* iterate(PyObject* self) noexcept {
    if (array_of(self).rank() > 0) return PySeqIter_New(self);
    PyErr_SetString(PyExc_TypeError, "iter: iteration over a 0-d array; use .item()");
    return nullptr;
}

}  // namespace

/// Whether the key is an array with axes and nothing else: the part that it is.
static bool is_one_array(PyObject* key, library::IndexPart& part) {
    if (Py_TYPE(key) != array_type) return false;
    const Array& given = array_of(key);
    if (given.is_known() || given.rank() == 0) return false;
    part.is_array = true;
    part.array = given;
    return true;
}

Array get_index(const Array& a, PyObject* key) {
    library::IndexPart part;
    if (is_one_array(key, part)) return library::get_items(a, {&part, 1});
    IndexItems items;
    int integers;
    int n = parse_index(key, items.data(), integers);
    if (n >= 0) return basic_get(a, items.first(n), integers);
    auto parts = index_parts(a, key);
    std::vector<IndexItem> basic = basic_items(parts, integers);
    if (basic.empty()) return library::get_items(a, parts);
    Array made = basic_get(a, basic, integers);  // beside 0-d arrays: a copy
    return made.is_known() ? made : copy(made);
}

void set_index(const Array& a, PyObject* key, PyObject* value) {
    if (a.is_value())
        fail(ErrorKind::Type,
             "index: a value is immutable; write into the array that it came from");
    if (a.readonly())
        fail(ErrorKind::Value,
             "assignment: the destination is read-only; make a copy with .copy() and write into "
             "that");
    Arg arg;
    Array keep;
    if (!operand(value, arg, keep)) {
        // Numbers in lists must fit an integer dtype, as they do alone.
        keep = is_integer(a.dtype()) ? to_array(value, true, a.dtype()) : to_array(value, true);
        arg = keep.arg();
    }
    if (!arg.is_scalar() && !is_array(value)) {
        keep = Array::of(arg.view);
        bring_beside(a, value, keep);
        arg.view = keep.view();
    }
    warn_if_a_part_is_lost(arg, a.dtype());
    library::IndexPart part;
    if (is_one_array(key, part)) return library::set_items(a, {&part, 1}, arg);
    IndexItems items;
    int integers;
    int n = parse_index(key, items.data(), integers);
    if (n >= 0) refuse_misfit(value, arg, a.dtype());
    if (n >= 0) return basic_set(a, items.first(n), integers, arg);
    auto parts = index_parts(a, key);
    std::vector<IndexItem> basic = basic_items(parts, integers);
    if (basic.empty()) return library::set_items(a, parts, arg);
    basic_set(a, basic, integers, arg);
}

PyType_Slot index_slots[] = {
    {Py_sq_contains, reinterpret_cast<void*>(contains)},
    {Py_tp_iter, reinterpret_cast<void*>(iterate)},
    {Py_mp_subscript, reinterpret_cast<void*>(get)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(set)},
    {Py_mp_length, reinterpret_cast<void*>(length)},
    {Py_sq_length,
     reinterpret_cast<void*>(length)},  // PySequence_GetItem counts from the end by it
    {Py_sq_item, reinterpret_cast<void*>(sequence_item)},
    {0, nullptr},
};

}  // namespace unisono::python
