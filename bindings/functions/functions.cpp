// Functions of the module that record operations: creation, where, eval.
#include "functions/functions.h"

#include <vector>

#include "array/beside.h"
#include "array/exchange/adopt.h"
#include "array/exchange/numpy_layout.h"
#include "array/object.h"
#include "array/subclasses.h"
#include "functions/by_numpy.h"
#include "functions/selection.h"
#include "reference.h"
#include "tape/tape.h"
#include "tape/windows.h"

namespace unisono::python {

namespace {

PyObject* where_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    for (Py_ssize_t k = 0; k < n; ++k) {
        const PyTypeObject* type = Py_TYPE(args[k]);
        if (type == array_type || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) [[likely]]
            continue;
        if (has_functions(args[k]) && is_array(args[k])) {
            PyObject* made = call_by_protocol("where", args[0], args + 1, n - 1, nullptr);
            if (made != Py_NotImplemented) return made;
            Py_DECREF(made);
        } else if (is_of_numpys(args[k]) || has_functions(args[k])) {
            return computed_by_numpy("where", args, n);
        }
    }
    PyObject* made = guarded<PyObject*>(nullptr, [&] {
        if (n == 1) return nonzero_tuple(args[0]);
        if (n != 3)
            fail(n == 2 ? ErrorKind::Value : ErrorKind::Type,
                 "where: takes a condition, or a condition and two values; got " +
                     std::to_string(n) + " arguments");
        Arg operands[3];
        Array keep[3];
        for (int k = 0; k < 3; ++k) {
            if (!operand(args[k], operands[k], keep[k])) {
                keep[k] = to_array(args[k], true);
                operands[k] = keep[k].arg();
            }
        }
        bring_together(args, operands, keep);
        note_line();
        return wrap(where(operands[0], operands[1], operands[2]));
    });
    return made ? made : by_numpy("where", args, n, nullptr);
}

PyObject* full_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 4) fail(ErrorKind::Internal, "_full: takes shape, value, dtype, device");
        Arg value;
        Array keep;
        note_line();
        Device* device = to_device_pointer(args[3]);
        if (!operand(args[1], value, keep) || !value.is_scalar()) {
            keep = to_array(args[1], true);
            // Numbers and lists lie nowhere.
            const bool is_elsewhere = is_array(args[1]) && !array_of(args[1]).is_value();
            if (!is_elsewhere) keep = to_device(keep, device);
            value = keep.arg();
        }
        DType t = args[2] == Py_None ? value.view.dtype : to_dtype(args[2]);
        Array a = empty(to_shape(args[0]), t, device);
        assign(a, value);
        return wrap(a);
    });
}

PyObject* empty_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 3) fail(ErrorKind::Internal, "_empty: takes shape, dtype, device");
        return wrap(empty(to_shape(args[0]), to_dtype(args[1]), to_device_pointer(args[2])));
    });
}

PyObject* iota_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 2) fail(ErrorKind::Internal, "_iota: takes a length and a device");
        note_line();
        return wrap(iota(to_int64(args[0]), to_device_pointer(args[1])));
    });
}

/// A value as a 0-d array, which can be written to.
Array as_array(const Array& value) {
    if (value.is_known()) return full({}, value.scalar(), nullptr);
    return Array::of(copy(value).view());
}

/// NumPy's array of elements that are not numbers: text, dates or objects; null without an
/// error for all else.
PyObject* numpys_own(PyObject* x) {
    Ref module(PyImport_ImportModule("unisono._arrays.exchange.interoperation"));
    Ref made(module.p ? PyObject_CallMethod(module.p, "numpys_own", "O", x) : nullptr);
    if (!made.p) python_failed();
    return made.p == Py_None ? nullptr : Py_NewRef(made.p);
}

/// The array of records that x is, or with a dtype given that has fields, is to become; null
/// without an error for all else.
PyObject* array_of_records(PyObject* x, PyObject* dtype, PyObject* device, PyObject* copy,
                           bool shares) {
    Ref module(PyImport_ImportModule("unisono._records.records"));
    Ref made(module.p ? PyObject_CallMethod(module.p, "convert", "OOOOO", x, dtype, device, copy,
                                            shares ? Py_True : Py_False)
                      : nullptr);
    if (!made.p) python_failed();
    return made.p == Py_None ? nullptr : Py_NewRef(made.p);
}

template <CopyMode mode>
PyObject* array_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 4) fail(ErrorKind::Internal, "_array: takes an object, dtype, device, copy");
        return make_array(args[0], args[1], args[2], args[3], mode);
    });
}

/// The result of __array__ of an object without a buffer; null without an error
/// where it has none.
PyObject* made_by_itself(PyObject* x) {
    if (PyObject_CheckBuffer(x) || PyList_Check(x) || PyTuple_Check(x) || PyNumber_Check(x))
        return nullptr;
    Ref method(PyObject_GetAttrString(x, "__array__"));
    if (!method.p) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) python_failed();
        PyErr_Clear();
        return nullptr;
    }
    PyObject* made = PyObject_CallNoArgs(method.p);
    if (!made) python_failed();
    return made;
}

PyObject* broadcast_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    PyObject* made = guarded<PyObject*>(nullptr, [&] {
        if (n != 2) fail(ErrorKind::Type, "broadcast_to: takes an array and a shape");
        return wrap(broadcast_to(to_array(args[0], true), to_shape(args[1])));
    });
    return made ? made : by_numpy("broadcast_to", args, n, nullptr);
}

PyObject* eval_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (n == 0) Tape::current().flush_all(FlushReason::Eval);
        std::vector<Storage*> wanted;
        for (Py_ssize_t k = 0; k < n; ++k) {
            if (is_value_object(args[k])) continue;
            if (!is_array(args[k])) {
                // Distributed arrays know how: other ranks may have to take part.
                if (!PyObject_HasAttrString(args[k], "_eval"))
                    fail(ErrorKind::Type,
                         std::string("eval: expected arrays; got ") + Py_TYPE(args[k])->tp_name);
                PyObject* done = PyObject_CallMethod(args[k], "_eval", nullptr);
                if (!done) throw PythonError{};
                Py_DECREF(done);
                continue;
            }
            if (!used_array(args[k]).is_known())
                wanted.push_back(used_array(args[k]).view().storage);
        }
        if (!wanted.empty()) Tape::current().flush(wanted, FlushReason::Eval);
        Py_RETURN_NONE;
    });
}

const char where_doc[] = R"doc(where($module, condition, x=None, y=None, /)
--

Elements of two arrays by a condition; of a condition alone the indices at which it holds.

Parameters
----------
condition : array_like
    True where it is not zero.
x, y : array_like, optional
    All three broadcast; the dtype is the one that holds both.

Returns
-------
ndarray, or a tuple of index arrays as of `nonzero`
    `x` where the condition holds, else `y`.

Raises
------
ValueError
    Shapes that do not broadcast, or only one of `x` and `y`.

Examples
--------
>>> import unisono as un
>>> x = un.asarray([-1, 2, -3])
>>> un.where(x > 0, x, 0).tolist()
[0, 2, 0]
>>> un.where(x > 0)[0].tolist()
[1]
)doc";

const char eval_doc[] = R"doc(eval($module, /, *arrays)
--

Computes arrays now; without arguments, all that is pending.

Parameters
----------
*arrays : ndarray

Raises
------
Exception
    What went wrong in their computation, naming the line that recorded it.

Examples
--------
>>> import unisono as un
>>> x = un.ones(3) + 1
>>> un.eval(x)
>>> print(un.explain(x).splitlines()[0])
computed: nothing is pending
)doc";

/// The array that a value object is, itself a value; other objects come back as they are.
PyObject* array_of_value_function(PyObject*, PyObject* o) noexcept {
    return guarded<PyObject*>(
        nullptr, [&] { return is_value_object(o) ? wrap_array(array_of_value(o)) : Py_NewRef(o); });
}

PyMethodDef functions[] = {
    {"_array_of_value", array_of_value_function, METH_O, nullptr},
    {"where", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(where_function)),
     METH_FASTCALL, where_doc},
    {"broadcast_to",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(broadcast_function)), METH_FASTCALL,
     "broadcast_to($module, array, shape, /)\n--\n\nA read-only view of that shape."},
    {"eval", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(eval_function)),
     METH_FASTCALL, eval_doc},
    {"_full", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(full_function)),
     METH_FASTCALL, nullptr},
    {"_empty", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(empty_function)),
     METH_FASTCALL, nullptr},
    {"_iota", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(iota_function)),
     METH_FASTCALL, nullptr},
    {"_array",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(array_function<CopyMode::Share>)),
     METH_FASTCALL, nullptr},
    {"_asarray",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(array_function<CopyMode::Copy>)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

/// x.__array__(copy=False) of an object without a buffer, which refuses where it must copy; null
/// without an error where it has no such method.
PyObject* made_without_copy(PyObject* x) {
    if (PyObject_CheckBuffer(x) || !PyObject_HasAttrString(x, "__array__")) return nullptr;
    Ref method(PyObject_GetAttrString(x, "__array__"));
    Ref none(PyTuple_New(0)), names(Py_BuildValue("{sO}", "copy", Py_False));
    if (!method.p || !none.p || !names.p) python_failed();
    PyObject* made = PyObject_Call(method.p, none.p, names.p);
    if (made) return made;
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) python_failed();
    PyErr_Clear();
    fail(ErrorKind::Value,
         std::string("array: ") + Py_TYPE(x)->tp_name +
             ".__array__ does not take copy=, so that it may copy; use copy=None");
}

PyObject* make_array(PyObject* x, PyObject* dtype, PyObject* device_given, PyObject* copy_given,
                     CopyMode mode) {
    note_line();
    refuse_text_as_copy("array", copy_given);
    Ref made(copy_given == Py_False ? made_without_copy(x) : nullptr);
    if (PyObject* theirs = shared_on_device(x)) made = Ref(theirs);
    if (made.p) x = made.p;
    bool shares = mode == CopyMode::Share || copy_given != Py_None || is_array(x);
    std::optional<Array> behind;
    if (!shares) {
        made.p = made_by_itself(x);
        if (made.p) {
            x = made.p;
            mode = Py_REFCNT(x) == 1 ? CopyMode::Adopt : CopyMode::Copy;
        }
        behind = array_behind(x);
        shares = behind || is_memory_map(x);
    }
    const bool adopts = !shares && mode == CopyMode::Adopt && owns_memory(x);
    bool may_share = copy_given != Py_True;
    bool copied = false;
    const bool never_copies = copy_given == Py_False;
    bool is_ours = is_array(x);
    std::optional<DType> wanted;
    auto records = [&] {
        return array_of_records(x, dtype, device_given, copy_given, mode == CopyMode::Share);
    };
    if (dtype != Py_None) {
        try {
            wanted = to_dtype(dtype);
        } catch (const Error&) {
            if (PyObject* theirs = records()) return theirs;
            throw;
        }
    }
    if (has_buffer_of_array(x)) {
        if (PyObject* theirs = records()) return theirs;
    }
    // NumPy's dates have no buffer: their arrays are taken for what they are.
    if (dtype == Py_None && is_numpy_array(x)) {
        const char kind =
            reinterpret_cast<NumPyDType*>(reinterpret_cast<NumPyArray*>(x)->dtype)->kind;
        if (kind == 'V') {
            if (PyObject* theirs = records()) return theirs;
        }
        if (kind == 'M' || kind == 'm') {
            if (PyObject* theirs = numpys_own(x)) return theirs;
        }
    }
    Array a;
    try {
        a = behind ? *behind : to_array(x, true, wanted);
    } catch (const Error& e) {
        if (is_ours || wanted || e.kind() != ErrorKind::Type) throw;
        if (PyObject* made_of_records = records()) return made_of_records;
        // Text, dates and objects are NumPy's.
        PyObject* theirs = numpys_own(x);
        if (!theirs) throw;
        return theirs;
    }
    auto convert = [&] {
        if (dtype == Py_None || to_dtype(dtype) == a.dtype()) return;
        a = astype(a, to_dtype(dtype), true);
        copied = true;
        may_share = true;
    };
    // Lists of a device's arrays were joined there.
    const bool is_far =
        !a.is_known() && !a.view().storage->addressable() && !windows_of(a.device());
    if (device_given != Py_None || !(is_ours || is_far)) {
        Device* device = device_given == Py_None && !is_ours ? to_device_pointer(Py_None)
                                                             : to_device_pointer(device_given);
        if (device != a.device()) {
            // Fewer bytes to move, and the device may lack the dtype that is given.
            if (dtype != Py_None && size_of(to_dtype(dtype)) <= size_of(a.dtype())) convert();
            a = to_device(a, device);
            copied = true;
            may_share = true;
        }
    }
    bool borrowed = is_ours || (a.view().storage && a.view().storage->borrowed);
    convert();
    if (never_copies && (copied || !borrowed || (is_ours && array_of(x).is_value())))
        fail(ErrorKind::Value,
             "array: cannot make this array without a copy; with copy=None it is copied only "
             "where it must be");
    if (Py_TYPE(x) == array_type && may_share && !copied && !a.is_value())
        return Py_NewRef(x);  // as it is, as of NumPy's functions
    if (!may_share && borrowed) a = copy(a);
    if (!shares && !copied && a.view().storage && a.view().storage->borrowed) {
        if (adopts) {
            a.view().storage->adopted = true;
        } else {
            a = copy(a);
        }
    }
    if ((is_ours || is_value_object(x)) && a.is_value()) a = as_array(a);
    return wrap(a);
}

bool add_functions(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace unisono::python
