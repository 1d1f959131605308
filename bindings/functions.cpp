// Functions of the module that record operations: elementwise ones from ops.def, creation, where,
// eval.
#include "functions.h"

#include "array_object.h"
#include "tape/tape.h"

namespace unisono::python {

namespace {

/// An elementwise function f(a) or f(a, b); keyword out= as NumPy's.
template <Op op>
PyObject* elementwise(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        constexpr int arity = info(op).arity;
        const char* what = info(op).numpy_name.data();
        PyObject* out = nullptr;
        Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
        for (Py_ssize_t k = 0; k < named; ++k) {
            PyObject* key = PyTuple_GET_ITEM(names, k);
            if (PyUnicode_CompareWithASCIIString(key, "out") != 0) {
                fail(ErrorKind::Type, std::string(what) + ": unexpected keyword '" +
                                          PyUnicode_AsUTF8(key) + "'; only out= is there");
            }
            if (args[n + k] != Py_None) out = args[n + k];
        }
        if (n == arity + 1 && !out) out = args[arity];
        if (n != arity && !(n == arity + 1 && out == args[arity])) {
            fail(ErrorKind::Type, std::string(what) + ": takes " + std::to_string(arity) +
                                      " arrays; got " + std::to_string(n));
        }
        if (!out) {
            if (PyObject* made = distributed_call(op, args, arity)) return made;
        }
        Arg operands[arity];
        Array keep[arity];
        for (int k = 0; k < arity; ++k) {
            if (!operand(args[k], operands[k], keep[k])) {
                keep[k] = to_array(args[k], true);
                operands[k] = keep[k].arg();
            }
        }
        if (out && !is_array(out)) {
            fail(ErrorKind::Type, std::string(what) + ": out= must be an array of unisono; got " +
                                      Py_TYPE(out)->tp_name);
        }
        note_line();
        if (!out) return wrap(apply(op, operands));
        apply(op, operands, &array_of(out));
        return Py_NewRef(out);
    });
}

PyObject* where_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 3)
            fail(ErrorKind::Type, "where: takes a condition and two values; got " +
                                      std::to_string(n) + " arguments");
        if (PyObject* made = distributed_call(Op::Add, args, 3)) return made;
        Arg operands[3];
        Array keep[3];
        for (int k = 0; k < 3; ++k) {
            if (!operand(args[k], operands[k], keep[k])) {
                keep[k] = to_array(args[k], true);
                operands[k] = keep[k].arg();
            }
        }
        note_line();
        return wrap(where(operands[0], operands[1], operands[2]));
    });
}

PyObject* full_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 4) fail(ErrorKind::Internal, "_full: takes shape, value, dtype, device");
        Arg value;
        Array keep;
        if (!operand(args[1], value, keep) || !value.is_scalar()) {
            keep = to_array(args[1], true);
            value = keep.arg();
        }
        DType t = args[2] == Py_None ? value.view.dtype : to_dtype(args[2]);
        note_line();
        Device* device = to_device_pointer(args[3]);
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

PyObject* array_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 4) fail(ErrorKind::Internal, "_array: takes an object, dtype, device, copy");
        note_line();
        bool may_share = args[3] != Py_True;
        bool is_ours = is_array(args[0]);
        Array a = to_array(args[0], true);
        if (args[2] != Py_None || !is_ours) {
            Device* device = args[2] == Py_None && !is_ours ? to_device_pointer(Py_None)
                                                            : to_device_pointer(args[2]);
            if (device != a.device()) {
                a = to_device(a, device);
                may_share = true;
            }
        }
        bool borrowed = is_ours || (a.view().storage && a.view().storage->borrowed);
        if (args[1] != Py_None && to_dtype(args[1]) != a.dtype()) {
            a = astype(a, to_dtype(args[1]), true);
            may_share = true;
        }
        if (!may_share && borrowed) a = copy(a);
        return wrap(a);
    });
}

PyObject* broadcast_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 2) fail(ErrorKind::Type, "broadcast_to: takes an array and a shape");
        return wrap(broadcast_to(to_array(args[0], true), to_shape(args[1])));
    });
}

PyObject* eval_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (n == 0) Tape::instance().flush_all(FlushReason::Eval);
        for (Py_ssize_t k = 0; k < n; ++k) {
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
            if (!array_of(args[k]).is_known())
                Tape::instance().complete(array_of(args[k]).view().storage, FlushReason::Eval);
        }
        Py_RETURN_NONE;
    });
}

PyMethodDef functions[] = {
#define UNISONO_OP(Name, name, arity, rule, numpy, ...)                                         \
    {numpy, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(elementwise<Op::Name>)), \
     METH_FASTCALL | METH_KEYWORDS,                                                             \
     arity == 1 ? "Elementwise ``" numpy                                                        \
                  "(x, /, *, out=None)``, as NumPy's function of that name."                    \
                : "Elementwise ``" numpy                                                        \
                  "(x1, x2, /, *, out=None)``, as NumPy's function of that name."},
#include "ops/ops.def"
    {"where", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(where_function)),
     METH_FASTCALL,
     "``where(condition, x, y)``: x where the condition holds, else y; all three broadcast."},
    {"broadcast_to",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(broadcast_function)), METH_FASTCALL,
     "``broadcast_to(x, shape)``: a read-only view of that shape."},
    {"eval", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(eval_function)),
     METH_FASTCALL,
     "``eval(*arrays)``: computes the arrays now; without arguments, all that is pending."},
    {"_full", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(full_function)),
     METH_FASTCALL, nullptr},
    {"_empty", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(empty_function)),
     METH_FASTCALL, nullptr},
    {"_iota", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(iota_function)),
     METH_FASTCALL, nullptr},
    {"_array", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(array_function)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_functions(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace unisono::python
