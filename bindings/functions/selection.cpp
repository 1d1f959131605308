// Functions under indexing and data movement whose shapes depend on data, or that take many arrays.
#include "functions/selection.h"

#include <vector>

#include "array/beside.h"
#include "array/object.h"
#include "library/gather/index.h"
#include "library/gather/join.h"
#include "primitives/primitive.h"

namespace unisono::python {

namespace {

PyObject* nonzero_function(PyObject*, PyObject* x) noexcept {
    note_line();
    return guarded<PyObject*>(nullptr, [&] { return nonzero_tuple(x); });
}

PyObject* count_nonzero_function(PyObject*, PyObject* x) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        note_line();
        return PyLong_FromLongLong(library::count_nonzero(to_array(x, true)));
    });
}

/// _concatenate(arrays, axis, dtype, out)
PyObject* concatenate_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (n != 4 || !PyList_Check(args[0]))
            fail(ErrorKind::Internal, "_concatenate: takes a list, axis, dtype, out");
        std::vector<Array> parts;
        for (Py_ssize_t k = 0; k < PyList_GET_SIZE(args[0]); ++k)
            parts.push_back(to_array(PyList_GET_ITEM(args[0], k), true));
        bring_together(PySequence_Fast_ITEMS(args[0]), parts);
        std::optional<DType> t;
        if (args[2] != Py_None) t = to_dtype(args[2]);
        note_line();
        int axis = static_cast<int>(to_int64(args[1]));
        if (args[3] == Py_None) return wrap(library::concatenate(parts, axis, t));
        if (!is_array(args[3]))
            fail(ErrorKind::Type,
                 std::string("concatenate: out= must be an array of unisono; got ") +
                     Py_TYPE(args[3])->tp_name);
        library::concatenate(parts, axis, t, &used_array(args[3]));
        return Py_NewRef(args[3]);
    });
}

/// As assign_where, for a target that has an element at several places: what the mask leaves out
/// is not stored.
void assign_places(const Array& target, const Arg& mask, const Arg& value) {
    library::IndexPart part;
    part.is_array = true;
    part.array = broadcast_to(Array::of(mask.view), target.shape());
    if (value.is_scalar()) return library::set_items(target, {&part, 1}, value);
    const Array whole = broadcast_to(Array::of(value.view), target.shape());
    const Array values = library::get_items(whole, {&part, 1});
    library::set_items(target, {&part, 1}, values.arg());
}

/// _assign_where(target, mask, value)
PyObject* assign_where_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (n != 3 || !is_array(args[0]))
            fail(ErrorKind::Internal, "_assign_where: takes an array, a mask, a value");
        if (array_of(args[0]).is_value())
            fail(ErrorKind::Type, "copyto: a value is immutable; write into an array");
        Arg operands[2];
        Array keep[2];
        for (int k = 0; k < 2; ++k) {
            if (!operand(args[k + 1], operands[k], keep[k])) {
                keep[k] = to_array(args[k + 1], true);
                operands[k] = keep[k].arg();
            }
            if (is_array(args[k + 1]) || operands[k].is_scalar()) continue;
            keep[k] = Array::of(operands[k].view);
            bring_beside(array_of(args[0]), args[k + 1], keep[k]);
            operands[k].view = keep[k].view();
        }
        note_line();
        const Array& target = used_array(args[0]);
        if (target.view().layout->overlaps_itself() && !operands[0].is_scalar()) {
            assign_places(target, operands[0], operands[1]);
        } else {
            assign_where(target, operands[0], operands[1]);
        }
        Py_RETURN_NONE;
    });
}

PyObject* repeated_positions_function(PyObject*, PyObject* counts) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        note_line();
        return wrap(library::repeated_positions(to_array(counts, true)));
    });
}

PyMethodDef functions[] = {
    {"_nonzero", nonzero_function, METH_O, nullptr},
    {"_count_nonzero", count_nonzero_function, METH_O, nullptr},
    {"_concatenate",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(concatenate_function)),
     METH_FASTCALL, nullptr},
    {"_assign_where",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(assign_where_function)),
     METH_FASTCALL, nullptr},
    {"_repeated_positions", repeated_positions_function, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* nonzero_tuple(PyObject* x) {
    note_line();
    Array a = to_array(x, true);
    if (a.rank() == 0)
        fail(ErrorKind::Value,
             "nonzero: not defined for arrays of rank 0; use un.atleast_1d(x).nonzero()");
    std::vector<Array> found = library::nonzero(a);
    PyObject* made = PyTuple_New(static_cast<Py_ssize_t>(found.size()));
    if (!made) throw PythonError{};
    for (std::size_t k = 0; k < found.size(); ++k) {
        PyObject* part = wrap(std::move(found[k]));
        if (!part) {
            Py_DECREF(made);
            throw PythonError{};
        }
        PyTuple_SET_ITEM(made, static_cast<Py_ssize_t>(k), part);
    }
    return made;
}

bool add_selection(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace unisono::python
