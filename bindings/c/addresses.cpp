// _AddressCall: the base of C functions that take void* or structs (_jit/c_types.py). Arrays and
// elements of them pass as their addresses straight to the compiled code, which takes integers;
// what else Python may give goes to the method _convert_and_call.
#include "c/addresses.h"

#include <structmember.h>

#include <vector>

#include "array/exchange/numpy_layout.h"
#include "errors.h"
#include "jit/dispatch.h"

namespace unisono::python {

namespace {

struct Taken {
    enum Kind : std::uint8_t { AsGiven, Memory, StructPointer, StructValue } kind;
    bool writes;
    Ref dtype;  ///< of the struct
};

struct AddressCall {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject* function;  ///< null: every call is converted
    std::vector<Taken>* taken;
};

AddressCall& self_of(PyObject* object) { return *reinterpret_cast<AddressCall*>(object); }

/// Where the argument lies; null where it must be converted.
const char* address_of(const Taken& t, PyObject* object) {
    if (is_numpy_array(object)) {
        const auto& a = *reinterpret_cast<const NumPyArray*>(object);
        bool fits = t.kind == Taken::Memory || a.dtype == t.dtype.get();
        bool is_one = t.kind != Taken::StructValue || a.rank == 0 || (a.rank == 1 && *a.shape == 1);
        bool has_axes = t.kind == Taken::StructValue || a.rank > 0;
        bool may = (a.flags & numpy_contiguous) && (!t.writes || (a.flags & numpy_writable));
        return fits && is_one && has_axes && may ? a.data : nullptr;
    }
    if (t.kind != Taken::StructValue && !(t.kind == Taken::StructPointer && !t.writes))
        return nullptr;
    auto* dtype = reinterpret_cast<const NumPyDType*>(t.dtype.get());
    const auto* element = reinterpret_cast<const NumPyVoid*>(object);
    bool fits = dtype && Py_TYPE(object) == dtype->scalar && element->dtype == t.dtype.get();
    return fits ? element->data : nullptr;
}

PyObject* convert_and_call(PyObject* self, PyObject* const* args, std::size_t count,
                           PyObject* keywords) {
    Ref way(PyObject_GetAttrString(self, "_convert_and_call"));
    return way ? PyObject_Vectorcall(way.get(), args, count, keywords) : nullptr;
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t flagged, PyObject* keywords) {
    constexpr std::size_t most = 16;
    const AddressCall& call = self_of(self);
    auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flagged));
    if (keywords || !call.function || count > most || count != call.taken->size())
        return convert_and_call(self, args, count, keywords);
    Ref addresses[most];
    PyObject* given[most];
    for (std::size_t k = 0; k < count; ++k) {
        const Taken& t = (*call.taken)[k];
        given[k] = args[k];
        if (t.kind == Taken::AsGiven) continue;
        if (t.kind != Taken::StructValue && PyLong_CheckExact(args[k])) continue;
        bool is_none = t.kind != Taken::StructValue && args[k] == Py_None;
        const char* found = is_none ? nullptr : address_of(t, args[k]);
        if (!found && !is_none) return convert_and_call(self, args, count, nullptr);
        addresses[k] = Ref(PyLong_FromSize_t(reinterpret_cast<std::uintptr_t>(found)));
        if (!addresses[k]) return nullptr;
        given[k] = addresses[k].get();
    }
    return PyObject_Vectorcall(call.function, given, count, nullptr);
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
    // See jit/dispatcher.cpp: Python 3.11 does not hand this flag down.
    if (type->tp_call == PyVectorcall_Call) type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    PyObject* self = type->tp_alloc(type, 0);
    if (self) self_of(self).vectorcall = vectorcall;
    return self;
}

/// _AddressCall(function, list of (kind, whether C writes, dtype or None))
int init(PyObject* self, PyObject* args, PyObject*) {
    PyObject *function, *rows;
    if (!PyArg_ParseTuple(args, "OO!", &function, &PyList_Type, &rows)) return -1;
    return guarded<int>(-1, [&] {
        auto taken = std::make_unique<std::vector<Taken>>();
        for (Py_ssize_t k = 0; k < PyList_GET_SIZE(rows); ++k) {
            int kind, writes;
            PyObject* dtype;
            if (!PyArg_ParseTuple(PyList_GET_ITEM(rows, k), "ipO", &kind, &writes, &dtype))
                return -1;
            taken->push_back({static_cast<Taken::Kind>(kind), writes != 0,
                              dtype == Py_None ? Ref() : Ref::of(dtype)});
        }
        AddressCall& call = self_of(self);
        delete std::exchange(call.taken, taken.release());
        Py_XDECREF(std::exchange(call.function, Py_NewRef(function)));
        return 0;
    });
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    delete self_of(self).taken;
    Py_XDECREF(self_of(self).function);
    type->tp_free(self);
    Py_DECREF(type);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self_of(self).function);
    return 0;
}

int clear(PyObject* self) {
    Py_CLEAR(self_of(self).function);
    return 0;
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(AddressCall, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

}  // namespace

bool add_address_call(PyObject* module) {
    PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                           {Py_tp_init, reinterpret_cast<void*>(init)},
                           {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                           {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                           {Py_tp_clear, reinterpret_cast<void*>(clear)},
                           {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                           {Py_tp_members, members},
                           {Py_tp_doc, const_cast<char*>("A call of C that takes addresses.")},
                           {0, nullptr}};
    PyType_Spec spec{
        "unisono._engine._AddressCall", sizeof(AddressCall), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
        slots};
    Ref type(PyType_FromSpec(&spec));
    return type && PyModule_AddObjectRef(module, "_AddressCall", type.get()) == 0;
}

}  // namespace unisono::python
