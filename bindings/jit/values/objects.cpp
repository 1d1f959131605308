// The base class of compiled classes' objects: holds a reference to the memory.
#include "jit/values/objects.h"

#include <structmember.h>

#include <new>

#include "errors.h"

namespace unisono::python {

namespace {

struct InstanceObject {
    PyObject_HEAD Block* block;  ///< one reference; null before the object is made
    PyObject* weak_references;
};

PyTypeObject* instance_type = nullptr;
thread_local const KeepScope* keep_scope = nullptr;

void deallocate(PyObject* self) {
    auto* object = reinterpret_cast<InstanceObject*>(self);
    PyTypeObject* type = Py_TYPE(self);
    if (object->weak_references) PyObject_ClearWeakRefs(self);
    release_block(object->block);
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* address(PyObject* self, PyObject*) {
    std::int64_t value = 0;
    object_address(self, value);
    return PyLong_FromLongLong(value);
}

PyObject* tables(PyObject*, PyObject*) { return PyLong_FromLongLong(live_tables()); }

PyObject* live(PyObject*, PyObject*) { return PyLong_FromLongLong(live_objects()); }

/// A block that stands for a Python object's buffer.
struct ViewBlock : Block {
    PyObject* view;
};

void drop_view(Block* block) {
    auto* held = static_cast<ViewBlock*>(block);
    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(held->view);
        PyGILState_Release(state);
    }
    delete held;
}

Block* keep_argument(std::int64_t at) {
    Block* made = nullptr;
    PyGILState_STATE state = PyGILState_Ensure();
    for (const KeepScope* s = keep_scope; s && !made; s = s->outer) {
        PyObject* owner = s->arguments.owner_of_memory(static_cast<std::uintptr_t>(at));
        if (owner) made = view_block(owner);
    }
    PyGILState_Release(state);
    return made;
}

PyMethodDef methods[] = {{"_address", address, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET,
                          offsetof(InstanceObject, weak_references), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};
PyMethodDef functions[] = {{"_live_objects", live, METH_NOARGS, nullptr},
                           {"_live_tables", tables, METH_NOARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

Block* view_block(PyObject* owner) {
    PyObject* view = PyMemoryView_FromObject(owner);
    if (!view) {
        PyErr_Clear();
        return nullptr;
    }
    auto* block = new (std::nothrow) ViewBlock{{nullptr, 0}, view};
    if (!block) {
        Py_DECREF(view);
        return nullptr;
    }
    block->drop = drop_view;
    block->refs = 1;
    return block;
}

PyObject* bytes_from(std::uintptr_t address, std::int64_t count, std::int64_t stride) {
    PyObject* made = PyBytes_FromStringAndSize(nullptr, count);
    const auto* items = reinterpret_cast<const char*>(address);
    for (std::int64_t k = 0; made && k < count; ++k) PyBytes_AS_STRING(made)[k] = items[k * stride];
    return made;
}

PyObject* owner_of_view(const Block* block) {
    if (!block || block->drop != drop_view) return nullptr;
    PyObject* view = static_cast<const ViewBlock*>(block)->view;
    return PyMemoryView_GET_BASE(view);
}

KeepScope::KeepScope(const Arguments& given) : arguments(given), outer(keep_scope) {
    keep_scope = this;
}
KeepScope::~KeepScope() { keep_scope = outer; }

bool object_address(PyObject* object, std::int64_t& value) {
    if (!instance_type || !PyObject_TypeCheck(object, instance_type)) return false;
    const Block* block = reinterpret_cast<InstanceObject*>(object)->block;
    value = block ? static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(block->data)) : 0;
    return true;
}

PyObject* wrap_object(const frontend::Record& record, Block* block) {
    auto* cls = static_cast<PyTypeObject*>(const_cast<void*>(record.python));
    PyObject* made = cls->tp_alloc(cls, 0);
    if (!made) {
        release_block(block);
        return nullptr;
    }
    reinterpret_cast<InstanceObject*>(made)->block = block;
    return made;
}

bool add_objects(PyObject* module) {
    set_keep_hook(keep_argument);
    PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                           {Py_tp_methods, methods},
                           {Py_tp_members, members},
                           {Py_tp_doc, const_cast<char*>("An object of a compiled class.")},
                           {0, nullptr}};
    PyType_Spec spec{"unisono._engine._Instance", sizeof(InstanceObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    PyObject* type = PyType_FromSpec(&spec);
    if (!type) return false;
    instance_type = reinterpret_cast<PyTypeObject*>(type);  // kept for good
    return PyModule_AddFunctions(module, functions) == 0 &&
           PyModule_AddObjectRef(module, "_Instance", type) == 0;
}

}  // namespace unisono::python
