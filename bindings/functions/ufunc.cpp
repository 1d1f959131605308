// The type of elementwise functions: a call with plain arguments records at once; everything else
// (where=, dtype=, reduce, accumulate...) is written in Python, in unisono._arrays.ufunc.
#include "functions/ufunc.h"

#include <structmember.h>

#include "array/beside.h"
#include "array/object.h"
#include "array/subclasses.h"
#include "functions/by_numpy.h"
#include "reference.h"
#include "tape/record/float_errors.h"

namespace unisono::python {

namespace {

PyTypeObject* ufunc_type = nullptr;

struct PyUfunc {
    PyObject_HEAD vectorcallfunc call;  ///< asks the operands' classes first
    vectorcallfunc compute;
    PyObject* name;
    PyObject* function;  ///< composed in Python; null where there is a row of ops.def
    int op;              ///< row of ops.def, or -1
    int nin, nout;
};

PyUfunc* ufunc_of(PyObject* o) { return reinterpret_cast<PyUfunc*>(o); }

/// unisono._arrays.ufunc's function of that name, a new reference.
PyObject* python_function(const char* name) {
    PyObject* module = PyImport_ImportModule("unisono._arrays.ufunc");
    PyObject* function = module ? PyObject_GetAttrString(module, name) : nullptr;
    Py_XDECREF(module);
    return function;
}

/// NumPy's result of a call that failed, where its operands are NumPy's own.
[[gnu::cold, gnu::noinline]] PyObject* by_theirs(PyObject* self, PyObject* const* args,
                                                 Py_ssize_t n, PyObject* names) noexcept {
    return by_numpy(PyUnicode_AsUTF8(ufunc_of(self)->name), args, n, names);
}

/// _ufunc.call(self, *args, **named): all that the quick calls below leave.
PyObject* call_in_python(PyObject* self, PyObject* const* args, Py_ssize_t n,
                         PyObject* names) noexcept {
    Ref function(python_function("call"));
    PyObject* result = function.p ? call_with(function.p, self, args, n, names) : nullptr;
    return result ? result : by_theirs(self, args, n, names);
}

/// The class of an operand, or of a keyword's value, may want to compute the function.
PyObject* call_checked(PyObject* self, PyObject* const* args, std::size_t flagged,
                       PyObject* names) noexcept {
    const Py_ssize_t n = PyVectorcall_NARGS(flagged);
    if (any_by_protocol(args, n + (names ? PyTuple_GET_SIZE(names) : 0))) [[unlikely]]
        return call_by_protocol("call", self, args, n, names);
    return ufunc_of(self)->compute(self, args, flagged, names);
}
/// The same of operands that have been asked.
PyObject* compute(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    return ufunc_of(self)->compute(self, args, static_cast<std::size_t>(n), names);
}

/// f(a) or f(a, b), perhaps with an array of ours as out, by name or behind the operands.
template <Op op>
PyObject* call_row(PyObject* self, PyObject* const* args, std::size_t flagged,
                   PyObject* names) noexcept {
    constexpr int arity = info(op).arity;
    Py_ssize_t n = PyVectorcall_NARGS(flagged);
    PyObject* out = nullptr;
    if (names || n != arity) {
        const bool only_out =
            names ? n == arity && PyTuple_GET_SIZE(names) == 1 &&
                        PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "out") == 0
                  : n == arity + 1;
        if (!only_out || (args[arity] != Py_None && !is_array(args[arity])))
            return call_in_python(self, args, n, names);
        if (args[arity] != Py_None) out = args[arity];
    }
    PyObject* made = guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Arg operands[arity];
        Array keep[arity];
        for (int k = 0; k < arity; ++k) {
            if (!operand(args[k], operands[k], keep[k])) {
                keep[k] = to_array(args[k], true);
                operands[k] = keep[k].arg();
            }
        }
        bring_together(args, operands, keep);
        note_line();
        if (!out) return wrap_made([&] { return apply(op, operands); });
        apply(op, operands, &used_array(out));
        return Py_NewRef(out);
    });
    return made ? made : by_theirs(self, args, n, names);
}

/// A result without axes as the number that NumPy gives there; a new reference.
PyObject* number_without_axes(PyObject* made) noexcept {
    if (!made || Py_TYPE(made) != array_type || array_of(made).rank() != 0) return Py_XNewRef(made);
    return guarded<PyObject*>(nullptr, [&] { return wrap(to_value(array_of(made))); });
}

/// A function composed in Python, or out of the ordinary.
PyObject* call_composed(PyObject* self, PyObject* const* args, std::size_t flagged,
                        PyObject* names) noexcept {
    Py_ssize_t n = PyVectorcall_NARGS(flagged);
    if (names || n != ufunc_of(self)->nin) return call_in_python(self, args, n, names);
    Ref function(Py_XNewRef(ufunc_of(self)->function));
    if (!function.p)
        return PyErr_Format(PyExc_ReferenceError, "%U: the function is being collected",
                            ufunc_of(self)->name);
    const float_errors::Named reported(PyUnicode_AsUTF8(ufunc_of(self)->name));
    Ref made(PyObject_Vectorcall(function.p, args, flagged, nullptr));
    if (!made.p) return by_theirs(self, args, n, names);
    if (!PyTuple_CheckExact(made.p)) return number_without_axes(made.p);
    Ref all(PyTuple_New(PyTuple_GET_SIZE(made.p)));
    for (Py_ssize_t k = 0; all.p && k < PyTuple_GET_SIZE(made.p); ++k) {
        PyObject* one = number_without_axes(PyTuple_GET_ITEM(made.p, k));
        if (!one) return nullptr;
        PyTuple_SET_ITEM(all.p, k, one);
    }
    return Py_XNewRef(all.p);
}

PyObject* make(PyObject* name, vectorcallfunc call, int op, int nin, int nout,
               PyObject* function) noexcept {
    if (!name) return nullptr;
    auto* u = PyObject_GC_New(PyUfunc, ufunc_type);
    if (!u) return nullptr;
    u->call = call_checked;
    u->compute = call;
    u->name = Py_NewRef(name);
    u->function = Py_XNewRef(function);
    u->op = op;
    u->nin = nin;
    u->nout = nout;
    PyObject_GC_Track(u);
    return reinterpret_cast<PyObject*>(u);
}

/// A function of frompyfunc may be held by what it calls.
int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(ufunc_of(self)->function);
    return 0;
}
int clear(PyObject* self) noexcept {
    Py_CLEAR(ufunc_of(self)->function);
    return 0;
}

void dealloc(PyObject* self) noexcept {
    PyObject_GC_UnTrack(self);
    PyTypeObject* type = Py_TYPE(self);
    Py_XDECREF(ufunc_of(self)->name);
    Py_XDECREF(ufunc_of(self)->function);
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* refuse_new(PyTypeObject*, PyObject*, PyObject*) noexcept {
    PyErr_SetString(PyExc_TypeError,
                    "ufunc: functions are not made by their type; use un.frompyfunc or "
                    "un.vectorize");
    return nullptr;
}

/// What the operands' classes give for a method, NotImplemented where none computes it.
PyObject* by_classes(PyObject* self, const char* name, PyObject* args, PyObject* names) noexcept {
    Ref module(PyImport_ImportModule("unisono._arrays.subclasses"));
    Ref function(module.p ? PyObject_GetAttrString(module.p, "by_method") : nullptr);
    Ref first(function.p ? Py_BuildValue("(Os)", self, name) : nullptr);
    Ref all(first.p ? PySequence_Concat(first.p, args) : nullptr);
    return all.p ? PyObject_Call(function.p, all.p, names) : nullptr;
}

/// What is seldom used is written in Python: unisono._arrays.ufunc's function of that name.
template <const char* name>
PyObject* in_python(PyObject* self, PyObject* args, PyObject* names) noexcept {
    if (any_by_protocol(&PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args))) {
        PyObject* made = by_classes(self, name, args, names);
        if (made != Py_NotImplemented) return made;
        Py_DECREF(made);
    }
    PyObject* function = python_function(name);
    PyObject* bound = function ? PyMethod_New(function, self) : nullptr;
    Py_XDECREF(function);
    PyObject* result = bound ? PyObject_Call(bound, args, names) : nullptr;
    Py_XDECREF(bound);
    if (result || names) return result;
    const std::string full = std::string(PyUnicode_AsUTF8(ufunc_of(self)->name)) + "." + name;
    return by_numpy(full.c_str(), &PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args), nullptr);
}
template <const char* name>
PyObject* attribute_in_python(PyObject* self, void*) noexcept {
    PyObject* function = python_function(name);
    PyObject* result = function ? PyObject_CallOneArg(function, self) : nullptr;
    Py_XDECREF(function);
    return result;
}
constexpr char reduce_name[] = "reduce", accumulate_name[] = "accumulate", outer_name[] = "outer";
constexpr char at_name[] = "at", reduceat_name[] = "reduceat", types_name[] = "types";
constexpr char identity_name[] = "identity", doc_name[] = "doc";
constexpr char python_signature_name[] = "python_signature";
constexpr char resolve_name[] = "resolve_dtypes";

/// The engine's reduction by this row: (array, axes or None, keepdims, dtype or None).
PyObject* engine_reduce(PyObject* self, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (n != 4 || ufunc_of(self)->op < 0)
            fail(ErrorKind::Internal, "_reduce: takes an array, axes, keepdims, dtype");
        std::optional<std::vector<int>> axes;
        if (args[1] != Py_None) {
            axes.emplace();
            for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args[1]); ++k)
                axes->push_back(static_cast<int>(to_int64(PyTuple_GET_ITEM(args[1], k))));
        }
        std::optional<DType> t;
        if (args[3] != Py_None) t = to_dtype(args[3]);
        note_line();
        return wrap(reduce(static_cast<Op>(ufunc_of(self)->op), to_array(args[0], true), axes,
                           args[2] == Py_True, t));
    });
}

/// (dtype of the operands, dtype of the result) where the operands' common dtype is the given one;
/// None where the function is not defined.
PyObject* engine_loop(PyObject* self, PyObject* dtype) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (ufunc_of(self)->op < 0) Py_RETURN_NONE;
        auto op = static_cast<Op>(ufunc_of(self)->op);
        auto t = compute_dtype(op, to_dtype(dtype));
        auto r = t ? result_dtype(op, *t) : std::nullopt;
        if (!r) Py_RETURN_NONE;
        return Py_BuildValue("(NN)", dtype_object(*t), dtype_object(*r));
    });
}

PyObject* represent(PyObject* self) noexcept {
    return PyUnicode_FromFormat("<ufunc '%U'>", ufunc_of(self)->name);
}

PyObject* get_nargs(PyObject* self, void*) noexcept {
    return PyLong_FromLong(ufunc_of(self)->nin + ufunc_of(self)->nout);
}
PyObject* get_ntypes(PyObject* self, void*) noexcept {
    PyObject* types = attribute_in_python<types_name>(self, nullptr);
    PyObject* n = types ? PyLong_FromSsize_t(PyObject_Size(types)) : nullptr;
    Py_XDECREF(types);
    return n;
}
/// Docstring and signature are each function's own; the type's lie in its dictionary, where they
/// would be found first.
PyObject* get_attribute(PyObject* self, PyObject* name) noexcept {
    auto is = [&](const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; };
    if (PyUnicode_Check(name) && is("__doc__")) return attribute_in_python<doc_name>(self, nullptr);
    if (PyUnicode_Check(name) && is("__signature__"))
        return attribute_in_python<python_signature_name>(self, nullptr);
    return PyObject_GenericGetAttr(self, name);
}
PyObject* get_none(PyObject*, void*) noexcept { Py_RETURN_NONE; }
PyObject* reduce_to_name(PyObject* self, PyObject*) noexcept {
    return Py_NewRef(ufunc_of(self)->name);
}

template <auto f>
PyCFunction function_pointer() {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyUfunc, call), READONLY, nullptr},
    {"__name__", T_OBJECT_EX, offsetof(PyUfunc, name), READONLY, nullptr},
    {"__qualname__", T_OBJECT_EX, offsetof(PyUfunc, name), READONLY, nullptr},
    {"nin", T_INT, offsetof(PyUfunc, nin), READONLY, "Number of operands."},
    {"nout", T_INT, offsetof(PyUfunc, nout), READONLY, "Number of results."},
    {"_op", T_INT, offsetof(PyUfunc, op), READONLY, "Row of the engine's table, or -1."},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"nargs", get_nargs, nullptr, "Number of operands and results.", nullptr},
    {"types", attribute_in_python<types_name>, nullptr,
     "Supported loops in NumPy's notation: 'dd->d' takes two float64.", nullptr},
    {"ntypes", get_ntypes, nullptr, "Number of loops.", nullptr},
    {"identity", attribute_in_python<identity_name>, nullptr,
     "Initial value of reductions, or None.", nullptr},
    {"signature", get_none, nullptr, "None: these functions are elementwise.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"_compute", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(compute)),
     METH_FASTCALL | METH_KEYWORDS,
     "_compute($self, /, *args, **options)\n--\n\nA call that asks no operand's class."},
    {"reduce", function_pointer<in_python<reduce_name>>(), METH_VARARGS | METH_KEYWORDS,
     "reduce($self, /, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, "
     "where=True)\n--\n\n"
     "Combines elements along axes; see ``unisono.ufunc``."},
    {"accumulate", function_pointer<in_python<accumulate_name>>(), METH_VARARGS | METH_KEYWORDS,
     "accumulate($self, /, array, axis=0, dtype=None, out=None)\n--\n\n"
     "All partial results along an axis."},
    {"outer", function_pointer<in_python<outer_name>>(), METH_VARARGS | METH_KEYWORDS,
     "outer($self, A, B, /, **options)\n--\n\n"
     "Apply the function to all pairs of elements."},
    {"at", function_pointer<in_python<at_name>>(), METH_VARARGS | METH_KEYWORDS,
     "at($self, a, indices, b=None, /)\n--\n\n"
     "Apply the function in place, once for each index, repeated ones included."},
    {"reduceat", function_pointer<in_python<reduceat_name>>(), METH_VARARGS | METH_KEYWORDS,
     "reduceat($self, /, array, indices, axis=0, dtype=None, out=None)\n--\n\n"
     "Reduce the slices between neighbouring indices."},
    {"resolve_dtypes", function_pointer<in_python<resolve_name>>(), METH_VARARGS | METH_KEYWORDS,
     "resolve_dtypes($self, /, dtypes)\n--\n\n"
     "The dtypes of operands and results of the loop that would run."},
    {"_reduce", function_pointer<engine_reduce>(), METH_FASTCALL, nullptr},
    {"_loop", engine_loop, METH_O, nullptr},
    {"__reduce__", reduce_to_name, METH_NOARGS, "Pickle support: the name."},
    {nullptr, nullptr, 0, nullptr},
};

const char type_doc[] =
    "An elementwise function, as NumPy's ``ufunc``.\n\nCalled with arrays or numbers, and "
    "``out=``, "
    "``where=``, ``dtype=``, ``casting=``, ``order=``;\nits methods ``reduce``, ``accumulate``, "
    "``outer``, ``at`` and ``reduceat`` are NumPy's.\n\nExamples\n--------\n"
    ">>> import unisono as un\n>>> un.add.reduce([1, 2, 3]).item(), un.add.nin, un.add.identity\n"
    "(6, 2, 0)\n";

PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_new, reinterpret_cast<void*>(refuse_new)},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_doc, const_cast<char*>(type_doc)},
    {0, nullptr},
};

struct Row {
    const char* name;
    vectorcallfunc call;
};
const Row rows[] = {
#define UNISONO_OP(Name, name, arity, rule, numpy, ...) {numpy, call_row<Op::Name>},
#include "ops/ops.def"
};

/// _make_ufunc(name, nin, nout, function): one that is composed in Python.
PyObject* make_function(PyObject*, PyObject* args) noexcept {
    PyObject *name, *function;
    int nin, nout;
    if (!PyArg_ParseTuple(args, "UiiO", &name, &nin, &nout, &function)) return nullptr;
    return make(name, call_composed, -1, nin, nout, function);
}

PyMethodDef functions[] = {
    {"_make_ufunc", make_function, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_ufuncs(PyObject* module) {
    PyType_Spec spec{"unisono.ufunc", static_cast<int>(sizeof(PyUfunc)), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_VECTORCALL |
                         Py_TPFLAGS_HAVE_GC,
                     slots};
    PyObject* made = PyType_FromSpec(&spec);
    if (!made) return false;
    ufunc_type = reinterpret_cast<PyTypeObject*>(made);
    if (PyModule_AddObjectRef(module, "ufunc", made) < 0) return false;
    for (int op = 0; op < op_count; ++op) {
        if (rows[op].name[0] == 0) continue;  // of the compiler's use only
        PyObject* name = PyUnicode_InternFromString(rows[op].name);
        PyObject* u = make(name, rows[op].call, op, op_infos[op].arity, 1, nullptr);
        Py_XDECREF(name);
        if (!u || PyModule_AddObject(module, rows[op].name, u) < 0) return false;
    }
    return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace unisono::python
