// Creates the array type; allocation with a free list.
#include "array/object.h"

#include <structmember.h>

#include <new>
#include <vector>

#include "array/known_values.h"
#include "array/subclasses.h"
#include "functions/by_numpy.h"
#include "functions/numpy_operators.h"
#include "reference.h"
#include "tape/tape.h"

namespace unisono::python {

PyTypeObject *array_type = nullptr, *array_base = nullptr;
PyArray* free_objects[most_free_objects];
std::size_t free_object_count = 0;
PyObject* truth_objects[2];

namespace {

/// A result that a timed statement drops unread would never be computed, nor its time be seen.
void finish_timed(Storage* s) noexcept {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    const bool done = guarded(false, [&] {
        Tape::current().flush(s, FlushReason::Eval);
        return true;
    });
    if (!done && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        PyErr_SetInterrupt();
    } else if (!done) {
        PyErr_WriteUnraisable(nullptr);
    }
    PyErr_Restore(type, value, trace);
}

}  // namespace

/// Ends the array of an owner that works in a context of its own.
[[gnu::cold, gnu::noinline]] static void end_owned(PyArray* a) noexcept {
    {
        Context::Scope its(a->owner->context);
        a->array.~Array();
    }
    a->owner->drop();
}

void deallocate_array(PyObject* self) noexcept {
    auto* a = reinterpret_cast<PyArray*>(self);
    if (a->weakrefs) PyObject_ClearWeakRefs(self);
    forget_first(a);
    if (a->owner) [[unlikely]] {
        end_owned(a);
    } else {
        Storage* s = a->array.view().storage;
        if (has_timed_statements && s && s->pending && !s->readers && in_timed_statement())
            finish_timed(s);
        a->array.~Array();
    }
    PyTypeObject* type = Py_TYPE(self);
    if (type == array_type && free_object_count < most_free_objects) {
        free_objects[free_object_count++] = a;
        return;  // keeps its reference to the type
    }
    type->tp_free(self);
    Py_DECREF(type);
}

namespace {

/// repr and str are written in Python, over NumPy's formatting.
template <int which>
PyObject* formatted(PyObject* self) noexcept {
    static PyObject* known = nullptr;
    PyObject* function =
        kept(known, "unisono._printing.formatting", which ? "array_str" : "array_repr");
    return function ? PyObject_CallOneArg(function, self) : nullptr;
}

/// ndarray(shape, dtype=float64): uninitialised memory, as NumPy's constructor. What has a
/// buffer, strides or an order is made in Python. CuPy names the buffer memptr.
PyObject* make_new(PyTypeObject* type, PyObject* args, PyObject* names) noexcept {
    static const char* keywords[] = {"shape",   "dtype", "buffer", "offset",
                                     "strides", "order", "memptr", nullptr};
    PyObject *shape = nullptr, *dtype = nullptr, *buffer = Py_None, *offset = nullptr,
             *strides = Py_None, *order = Py_None, *memory = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|OOOOOO:ndarray", const_cast<char**>(keywords),
                                     &shape, &dtype, &buffer, &offset, &strides, &order, &memory)) {
        return nullptr;
    }
    if (memory != Py_None) buffer = memory;
    PyObject* array = guarded<PyObject*>(nullptr, [&] {
        bool rows = order == Py_None ||
                    (PyUnicode_Check(order) && PyUnicode_CompareWithASCIIString(order, "C") == 0);
        if (buffer != Py_None || offset || strides != Py_None || !rows) {
            PyObject* module = PyImport_ImportModule("unisono._arrays.strides");
            if (!module) throw PythonError{};
            auto given = [](PyObject* o) { return o ? o : Py_None; };
            PyObject* made =
                PyObject_CallMethod(module, "_over_buffer", "OOOOOO", shape, given(dtype), buffer,
                                    given(offset), strides, order);
            Py_DECREF(module);
            if (!made) throw PythonError{};
            Ref held(made);
            return wrap_as(type, array_of(made));
        }
        DType t = dtype && dtype != Py_None ? to_dtype(dtype) : DType::Float64;
        return wrap_as(type, empty(to_shape(shape), t, to_device_pointer(Py_None)));
    });
    PyObject* const given[] = {shape, dtype};
    return array || !dtype || type != array_type ? array : by_numpy("ndarray", given, 2, nullptr);
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyArray, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

const char doc[] =
    "An array on a device, lazily computed.\n\n"
    "Has the interface of NumPy's ``ndarray``: views by slices, in-place operators, broadcasting,\n"
    "promotion (NEP 50). Operations are recorded and run, fused, when a value is needed.\n\n"
    "Examples\n--------\n"
    ">>> import unisono as un\n>>> a = un.arange(4.0)\n>>> (a[1:] + a[:-1]).tolist()\n[1.0, 3.0, "
    "5.0]\n";

}  // namespace

void drop_object(PyArray* object) noexcept {
    new (&object->array) Array();
    Py_DECREF(reinterpret_cast<PyObject*>(object));
}

PyObject* wrap_array(Array array) noexcept {
    PyArray* self = allocate_object();
    if (!self) return nullptr;
    new (&self->array) Array(std::move(array));
    note_first(self);
    return reinterpret_cast<PyObject*>(self);
}

PyObject* wrap_as(PyTypeObject* type, const Array& array) noexcept {
    if (type == array_type) return wrap_array(array);
    PyObject* self = type->tp_alloc(type, 0);
    if (!self) return nullptr;
    auto* made = reinterpret_cast<PyArray*>(self);
    new (&made->array) Array(array);
    note_first(made);
    made->owner = owners_exist ? take_owner() : nullptr;
    return self;
}

PyObject* wrap(Array array) noexcept {
    if (!array.is_value()) return wrap_array(std::move(array));
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        PyObject* number = number_object(array);
        return number || PyErr_Occurred() ? number : wrap_array(std::move(array));
    });
}

PyObject* number_instead(PyObject* made) {
    Ref held(made);
    PyObject* number = number_object(array_of(made));
    return number || PyErr_Occurred() ? number : Py_NewRef(made);
}

namespace {

/// Tables in one that lives as long as the type; `name` is the field that ends a table.
template <auto name, class T>
T* joined(const T* first, const T* second, const T* third = nullptr) {
    static std::vector<T> all;
    for (const T* table : {first, second, third}) {
        if (!table) break;
        for (; table->*name; ++table) all.push_back(*table);
    }
    all.push_back(T{});
    return all.data();
}

}  // namespace

PyObject* derived_class(PyType_Spec* spec, PyTypeObject* base) noexcept {
    auto* const object = reinterpret_cast<PyObject*>(base);
    PyTypeObject* const metaclass = Py_TYPE(object);
    Py_SET_TYPE(object, &PyType_Type);
    PyObject* made = PyType_FromSpecWithBases(spec, object);
    Py_SET_TYPE(object, metaclass);
    return made;
}

namespace {

/// ``ndarray.__subclasshook__``: NumPy's arrays count as arrays, too.
PyObject* includes_numpys(PyObject* cls, PyObject* other) noexcept {
    if (cls != reinterpret_cast<PyObject*>(array_type) || !PyType_Check(other))
        Py_RETURN_NOTIMPLEMENTED;
    if (derives_from_numpys(reinterpret_cast<PyTypeObject*>(other))) Py_RETURN_TRUE;
    Py_RETURN_NOTIMPLEMENTED;
}

PyMethodDef class_methods[] = {
    {"__subclasshook__", includes_numpys, METH_O | METH_CLASS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

/// ``isinstance(x, ndarray)`` as abstract classes answer it, at once of what needs no more than a
/// look at its type: that of builtin types does not change.
PyObject* is_instance(PyObject* cls, PyObject* object) noexcept {
    PyTypeObject* const type = Py_TYPE(object);
    if (PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(cls))) Py_RETURN_TRUE;
    if (cls == reinterpret_cast<PyObject*>(array_type)) {
        if (is_value_object(object) || is_scalar(object)) Py_RETURN_FALSE;
        if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE))
            return PyBool_FromLong(derives_from_numpys(type));
    }
    static PyObject* known = nullptr;
    PyObject* check = kept(known, "_abc", "_abc_instancecheck");
    return check ? PyObject_CallFunctionObjArgs(check, cls, object, nullptr) : nullptr;
}

/// The metaclass: derived from that of abstract classes, so that users' classes may derive from an
/// abstract class besides.
PyObject* make_metaclass(PyObject* of_abstract_classes) {
    static PyMethodDef methods[] = {
        {"__instancecheck__", is_instance, METH_O, "Whether an object is an array."},
        {nullptr, nullptr, 0, nullptr},
    };
    PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};
    PyType_Spec spec{"unisono._engine._ArrayType", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                     slots};  // mutable as its base is
    return PyType_FromSpecWithBases(&spec, of_abstract_classes);
}

/// Makes the type an abstract base class.
bool make_abstract(PyTypeObject* type) {
    Ref abc(PyImport_ImportModule("abc")), parts(PyImport_ImportModule("_abc"));
    Ref metaclass(abc.p ? PyObject_GetAttrString(abc.p, "ABCMeta") : nullptr);
    if (metaclass.p) metaclass = Ref(make_metaclass(metaclass.p));
    if (!metaclass.p || !parts.p) return false;
    Py_SET_TYPE(reinterpret_cast<PyObject*>(type),
                reinterpret_cast<PyTypeObject*>(metaclass.release()));
    type->tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE;
    Ref done(PyObject_CallMethod(parts.p, "_abc_init", "O", type));
    type->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;
    PyType_Modified(type);
    return done.p != nullptr;
}

}  // namespace

bool add_array_type(PyObject* module) {
    std::vector<PyType_Slot> slots = {
        {Py_tp_dealloc, reinterpret_cast<void*>(deallocate_array)},
        {Py_tp_new, reinterpret_cast<void*>(make_new)},
        {Py_tp_repr, reinterpret_cast<void*>(formatted<0>)},
        {Py_tp_str, reinterpret_cast<void*>(formatted<1>)},
        {Py_tp_doc, const_cast<char*>(doc)},
        {Py_tp_members, members},
        {Py_tp_methods,
         joined<&PyMethodDef::ml_name>(array_methods, python_methods, class_methods)},
        {Py_tp_getset, joined<&PyGetSetDef::name>(array_attributes, python_attributes)},
        {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
        {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    };
    for (PyType_Slot* s = number_slots; s->slot; ++s) slots.push_back(*s);
    for (PyType_Slot* s = index_slots; s->slot; ++s) slots.push_back(*s);
    for (PyType_Slot* s = python_slots; s->slot; ++s) slots.push_back(*s);
    slots.push_back({0, nullptr});
    PyType_Spec spec{"unisono.ndarray", static_cast<int>(sizeof(PyArray)), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_BASETYPE,
                     slots.data()};
    PyType_Slot no_slots[] = {{0, nullptr}};
    PyType_Spec base_spec{"unisono._engine._Array", static_cast<int>(sizeof(PyArray)), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_BASETYPE |
                              Py_TPFLAGS_DISALLOW_INSTANTIATION,
                          no_slots};
    Ref base(PyType_FromSpec(&base_spec));
    PyObject* made = base.p ? PyType_FromSpecWithBases(&spec, base.p) : nullptr;
    if (!made || PyModule_AddObjectRef(module, "_Array", base.p) != 0) return false;
    array_type = reinterpret_cast<PyTypeObject*>(made);
    array_base = reinterpret_cast<PyTypeObject*>(Py_NewRef(base.p));
    if (!make_abstract(array_type) || !add_scalar_types(module, slots)) return false;
    for (bool flag : {false, true}) {
        truth_objects[flag] = wrap_scalar(Array::known(Scalar::of(DType::Bool, flag)));
        if (!truth_objects[flag]) return false;
    }
    Ref(wrap_value(DType::Float32, 0));  // the layout of all values is the main context's
    return add_numpy_operators(array_type) && PyModule_AddObjectRef(module, "ndarray", made) == 0 &&
           add_value_types(module);
}

}  // namespace unisono::python
