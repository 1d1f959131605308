// _FastPath(function, name of NumPy's function if another): a function of the namespace, which runs
// in C where it is called with arrays and nothing out of the ordinary, and in Python, which handles
// everything, in all other cases. A call in Python costs more than the work on a few elements. What
// both refuse since its elements are no numbers, NumPy computes.
#include "functions/fast_path.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "array/object.h"
#include "array/subclasses.h"
#include "functions/by_numpy.h"
#include "functions/fast_calls.h"
#include "reference.h"

namespace unisono::python {

namespace {

bool is_plain(PyObject* o) { return Py_TYPE(o) == array_type; }

/// f(x), f(x, axis) and f(x, axis=axis): the array's method of the name.
template <const char* const& name>
PyObject* by_method(const Given& given) {
    const auto [args, count, keywords] = given;
    static PyObject* const method =
        PyObject_GetAttrString(reinterpret_cast<PyObject*>(array_type), name);
    const Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    if (!method || count < 1 || count + named > 2 || !is_plain(args[0])) return nullptr;
    if (named && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "axis") != 0)
        return nullptr;
    return PyObject_Vectorcall(method, args, static_cast<size_t>(count), keywords);
}

PyObject* dot(const Given& given) {
    const auto [args, count, keywords] = given;
    if (keywords || count != 2 || !is_plain(args[0]) || !is_plain(args[1])) return nullptr;
    const int a = array_of(args[0]).rank(), b = array_of(args[1]).rank();
    return a == 0 || b == 0 || a > 2 || b > 2 ? nullptr : PyNumber_MatrixMultiply(args[0], args[1]);
}

PyObject* flip(const Given& given) {
    PyObject* const* args = given.args;
    if (given.names || given.count != 1 || !is_plain(args[0]) || array_of(args[0]).rank() == 0)
        return nullptr;
    return guarded<PyObject*>(nullptr, [&] {
        IndexItem backwards{IndexItem::Kind::Slice};
        backwards.step = -1;
        IndexItem items[max_rank];
        const Array& a = array_of(args[0]);
        const auto rank = static_cast<std::size_t>(a.rank());
        std::fill(items, items + rank, backwards);
        return wrap_made([&] { return index(a, {items, rank}); });
    });
}

constexpr const char *sum_name = "sum", *prod_name = "prod", *max_name = "max", *min_name = "min",
                     *any_name = "any", *all_name = "all";
constexpr struct {
    const char* name;
    ShortCall run;
} ways[] = {
    {"dot", dot},
    {"flip", flip},
    {"sum", by_method<sum_name>},
    {"prod", by_method<prod_name>},
    {"max", by_method<max_name>},
    {"min", by_method<min_name>},
    {"any", by_method<any_name>},
    {"all", by_method<all_name>},
};

/// What NumPy has as functions of C: as attributes of classes they do not take the object for their
/// first argument. Not all of these have a fast path.
constexpr const char* unbound[] = {
    "arange",         "array",      "asanyarray", "asarray",    "ascontiguousarray",
    "asfortranarray", "empty",      "fromfile",   "frombuffer", "fromiter",
    "from_dlpack",    "fromstring", "frompyfunc", "matvec",     "promote_types",
    "vecdot",         "vecmat",     "zeros"};

bool is_unbound(const char* name) {
    return std::any_of(std::begin(unbound), std::end(unbound),
                       [&](const char* n) { return std::strcmp(n, name) == 0; });
}

struct FastPath {
    PyObject_HEAD vectorcallfunc call;
    ShortCall run;  ///< null: always in Python
    bool binds;
    PyObject* function;
    PyObject* name;
    PyObject* weakrefs;
};
FastPath& self_of(PyObject* o) { return *reinterpret_cast<FastPath*>(o); }

PyObject* call(PyObject* self, PyObject* const* args, size_t flagged, PyObject* keywords) {
    const FastPath& way = self_of(self);
    const Given given{args, PyVectorcall_NARGS(flagged), keywords};
    const Py_ssize_t all = given.count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
    if (all > 0 && (any_by_protocol(args, all) || any_list_of_numpys(args, all))) [[unlikely]] {
        PyObject* made = call_by_protocol("by_class", self, args, given.count, keywords);
        if (made != Py_NotImplemented) return made;
        Py_DECREF(made);
    }
    PyObject* made =
        way.run ? guarded<PyObject*>(nullptr, [&] { return way.run(given); }) : nullptr;
    if (!made && !PyErr_Occurred())
        made = PyObject_Vectorcall(way.function, args, flagged, keywords);
    return made ? made : by_numpy(PyUnicode_AsUTF8(way.name), args, given.count, keywords);
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject* function;
    const char* path = nullptr;
    if (!PyArg_ParseTuple(args, "O|s", &function, &path)) return nullptr;
    Ref name(path ? PyUnicode_FromString(path) : PyObject_GetAttrString(function, "__name__"));
    const char* text = name.p ? PyUnicode_AsUTF8(name.p) : nullptr;
    if (!text) return nullptr;
    ShortCall run = path ? nullptr : short_call(text);
    for (const auto& way : ways) {
        if (std::strcmp(way.name, text) == 0) run = way.run;
    }
    PyObject* made = type->tp_alloc(type, 0);
    if (!made) return nullptr;
    self_of(made).call = call;
    self_of(made).run = run;
    self_of(made).binds = !is_unbound(text);
    self_of(made).function = Py_NewRef(function);
    self_of(made).name = name.release();
    return made;
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    if (self_of(self).weakrefs) PyObject_ClearWeakRefs(self);
    Py_XDECREF(self_of(self).function);
    Py_XDECREF(self_of(self).name);
    type->tp_free(self);
    Py_DECREF(type);
}

/// What tools ask of a function (its class, name, signature, documentation) is the Python
/// function's.
PyObject* attribute(PyObject* self, PyObject* name) {
    for (const char* own : {"__wrapped__", "__reduce__", "__reduce_ex__", "_numpys_name"}) {
        if (PyUnicode_CompareWithASCIIString(name, own) == 0)
            return PyObject_GenericGetAttr(self, name);
    }
    return PyObject_GetAttr(self_of(self).function, name);
}

/// Programs name and mark functions, and NumPy's are Python's.
int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
    return PyObject_SetAttr(self_of(self).function, name, value);
}

/// A method where a class has it as an attribute, as Python's functions are.
PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
    return self_of(self).binds && object && object != Py_None ? PyMethod_New(self, object)
                                                              : Py_NewRef(self);
}

PyObject* represent(PyObject* self) { return PyObject_Repr(self_of(self).function); }

/// Pickled by name, as Python's functions are.
PyObject* reduce(PyObject* self, PyObject*) {
    return PyObject_GetAttrString(self_of(self).function, "__name__");
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FastPath, call), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FastPath, weakrefs), READONLY, nullptr},
    {"__wrapped__", T_OBJECT_EX, offsetof(FastPath, function), READONLY, nullptr},
    {"_numpys_name", T_OBJECT_EX, offsetof(FastPath, name), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

/// The one value of True, or of False.
PyObject* truth(PyObject*, PyObject* given) {
    return guarded<PyObject*>(nullptr, [&] { return Py_NewRef(truth_object(given == Py_True)); });
}

PyMethodDef functions[] = {{"_truth", truth, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_fast_path(PyObject* module) {
    PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                           {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                           {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                           {Py_tp_getattro, reinterpret_cast<void*>(attribute)},
                           {Py_tp_setattro, reinterpret_cast<void*>(set_attribute)},
                           {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                           {Py_tp_repr, reinterpret_cast<void*>(represent)},
                           {Py_tp_members, members},
                           {Py_tp_methods, methods},
                           {0, nullptr}};
    PyType_Spec spec = {"unisono._engine._FastPath", sizeof(FastPath), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
    Ref type(PyType_FromSpec(&spec));
    return type.p && PyModule_AddFunctions(module, functions) == 0 &&
           PyModule_AddObjectRef(module, "_FastPath", type.p) == 0;
}

}  // namespace unisono::python
