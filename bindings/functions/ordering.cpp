// Functions that order, search, scan and count: what unisono's _sorting, _statistics and _sets
// call.
#include "functions/ordering.h"

#include "array/object.h"
#include "library/gather/combine_at.h"
#include "library/gather/histogram.h"
#include "library/gather/slide.h"
#include "library/reduce/extremes.h"
#include "library/reduce/scan.h"
#include "library/reduce/segments.h"
#include "library/sort/search.h"
#include "library/sort/select.h"
#include "library/sort/sort.h"
#include "library/sort/unique.h"
#include "primitives/primitive.h"

namespace unisono::python {

namespace {

/// A function of n positional arguments that gives an array; its Python side checked them.
template <Py_ssize_t count, auto body>
PyObject* function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != count) {
            fail(ErrorKind::Internal,
                 "expected " + std::to_string(count) + " arguments; got " + std::to_string(n));
        }
        note_line();
        return body(args);
    });
}

template <Py_ssize_t count, auto body>
PyMethodDef entry(const char* name) {
    return {name,
            reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function<count, body>)),
            METH_FASTCALL, nullptr};
}

int to_axis(PyObject* o) { return static_cast<int>(to_int64(o)); }
bool to_bool(PyObject* o) { return PyObject_IsTrue(o) == 1; }

PyObject* arg_extreme(PyObject* const* args) {
    return wrap(library::arg_extreme(to_array(args[0], true), to_axis(args[1]), to_bool(args[2])));
}

PyObject* sort(PyObject* const* args) {
    return wrap(library::sort(to_array(args[0], true), to_axis(args[1]), to_bool(args[2])));
}

PyObject* argsort(PyObject* const* args) {
    return wrap(library::argsort(to_array(args[0], true), to_axis(args[1]), to_bool(args[2])));
}

PyObject* partition(PyObject* const* args) {
    return wrap(library::partition(to_array(args[0], true), to_axis(args[1]), to_int64(args[2]),
                                   to_bool(args[3])));
}

/// A tuple of new references; null where one of them is null.
template <class... Objects>
PyObject* tuple_of(Objects... objects) {
    PyObject* made = PyTuple_New(sizeof...(objects));
    Py_ssize_t at = 0;
    for (PyObject* o : {objects...}) {
        if (made) {
            PyTuple_SET_ITEM(made, at++, o);
        } else {
            Py_XDECREF(o);
        }
    }
    for (Py_ssize_t k = 0; made && k < at; ++k) {
        if (!PyTuple_GET_ITEM(made, k)) Py_CLEAR(made);
    }
    return made;
}

PyObject* top_k(PyObject* const* args) {
    auto [values, places] = library::top_k(to_array(args[0], true), to_axis(args[1]),
                                           to_int64(args[2]), to_bool(args[3]));
    return tuple_of(wrap(values), wrap(places));
}

PyObject* unique(PyObject* const* args) {
    bool places = to_bool(args[1]);
    library::Unique u = library::unique(to_array(args[0], true), places, to_bool(args[2]));
    if (!places) return tuple_of(wrap(u.values));
    return tuple_of(wrap(u.values), wrap(u.index), wrap(u.inverse), wrap(u.counts));
}

PyObject* search_sorted(PyObject* const* args) {
    return wrap(
        library::search_sorted(to_array(args[0], true), to_array(args[1], true), to_bool(args[2])));
}

PyObject* count_numbers(PyObject* const* args) {
    Array weights;
    if (args[1] != Py_None) weights = to_array(args[1], true);
    return wrap(library::count_numbers(to_array(args[0], true),
                                       args[1] == Py_None ? nullptr : &weights, to_int64(args[2])));
}

PyObject* count_in_bins(PyObject* const* args) {
    Array weights;
    if (args[2] != Py_None) weights = to_array(args[2], true);
    return wrap(library::count_in_bins(to_array(args[0], true), to_array(args[1], true),
                                       args[2] == Py_None ? nullptr : &weights, to_bool(args[3])));
}

PyObject* slide(PyObject* const* args) {
    return wrap(library::slide(to_array(args[0], true), to_array(args[1], true), to_int64(args[2]),
                               to_int64(args[3])));
}

/// The operation of a binary ufunc's name, if there is one.
std::optional<Op> op_named(PyObject* name) {
    for (int k = 0; k < op_count; ++k) {
        auto op = static_cast<Op>(k);
        const std::string numpy_name(info(op).numpy_name);
        if (PyUnicode_CompareWithASCIIString(name, numpy_name.c_str()) == 0) return op;
    }
    return std::nullopt;
}

/// False where elements of these dtypes are not combined in the engine.
PyObject* combine_at(PyObject* const* args) {
    std::optional<Op> op = op_named(args[0]);
    Array target = to_array(args[1], true), values = to_array(args[3], true);
    const bool takes = op && library::combines_at(*op, target.dtype(), values.dtype()) &&
                       (!target.device() || library::device_function(*op, target.dtype()));
    if (takes) library::combine_at(*op, target, to_array(args[2], true), values);
    return PyBool_FromLong(takes);
}

/// The operations by which scans and segments combine.
Op combining_op(PyObject* name) {
    static constexpr std::pair<const char*, Op> ops[] = {
        {"add", Op::Add},         {"multiply", Op::Mul},    {"minimum", Op::Min},
        {"maximum", Op::Max},     {"bitwise_and", Op::And}, {"bitwise_or", Op::Or},
        {"bitwise_xor", Op::Xor},
    };
    for (auto [known, op] : ops) {
        if (PyUnicode_CompareWithASCIIString(name, known) == 0) return op;
    }
    fail(ErrorKind::Internal, "_scan: no such operation");
}

std::optional<DType> to_optional_dtype(PyObject* o) {
    return o == Py_None ? std::nullopt : std::optional(to_dtype(o));
}

PyObject* scan(PyObject* const* args) {
    return wrap(library::scan(combining_op(args[0]), to_array(args[1], true), to_axis(args[2]),
                              to_optional_dtype(args[3])));
}

PyObject* reduce_segments(PyObject* const* args) {
    return wrap(library::reduce_segments(combining_op(args[0]), to_array(args[1], true),
                                         to_array(args[2], true), to_optional_dtype(args[3])));
}

}  // namespace

bool add_order_functions(PyObject* module) {
    // Function pointers are cast at run time.
    static PyMethodDef functions[] = {
        entry<3, arg_extreme>("_arg_extreme"),
        entry<3, sort>("_sort"),
        entry<3, argsort>("_argsort"),
        entry<4, partition>("_partition"),
        entry<4, top_k>("_top_k"),
        entry<3, unique>("_unique"),
        entry<3, search_sorted>("_search_sorted"),
        entry<3, count_numbers>("_count_numbers"),
        entry<4, count_in_bins>("_count_in_bins"),
        entry<4, scan>("_scan"),
        entry<4, reduce_segments>("_reduce_segments"),
        entry<4, combine_at>("_combine_at"),
        entry<4, slide>("_slide"),
        {nullptr, nullptr, 0, nullptr},
    };
    return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace unisono::python
