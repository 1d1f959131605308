// Objects of the OpenCL driver as Python's classes inherit them, and their end.
#include "driver_objects.h"

#include <structmember.h>

#include <utility>

#include "reference.h"

namespace unisono::python {

PyTypeObject *driver_object_type = nullptr, *driver_queue_type = nullptr,
             *driver_kernel_type = nullptr, *driver_event_type = nullptr;
DriverFunctions driver_functions{};

namespace {

DriverObject& object_of(PyObject* o) { return *reinterpret_cast<DriverObject*>(o); }
DriverKernel& kernel_of(PyObject* o) { return *reinterpret_cast<DriverKernel*>(o); }
DriverEvent& event_of(PyObject* o) { return *reinterpret_cast<DriverEvent*>(o); }

PyObject* get_address(PyObject* self, void*) {
    void* address = object_of(self).address;
    return address ? PyLong_FromVoidPtr(address) : Py_NewRef(Py_None);
}

int set_address(PyObject* self, PyObject* value, void*) {
    void* address = nullptr;
    if (value && value != Py_None) {
        address = PyLong_AsVoidPtr(value);
        if (!address && PyErr_Occurred()) return -1;
    }
    object_of(self).address = address;
    return 0;
}

void free_object(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

int traverse_kernel(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(kernel_of(self).setter);
    Py_VISIT(kernel_of(self).lock);
    return 0;
}

int clear_kernel(PyObject* self) {
    Py_CLEAR(kernel_of(self).setter);
    Py_CLEAR(kernel_of(self).lock);
    return 0;
}

void free_kernel(PyObject* self) {
    PyObject_GC_UnTrack(self);
    clear_kernel(self);
    free_object(self);
}

int traverse_event(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(event_of(self).ward);
    return 0;
}

int clear_event(PyObject* self) {
    Py_CLEAR(event_of(self).ward);
    return 0;
}

/// Comes before what the event keeps is given back.
void finalize_event(PyObject* self) {
    DriverEvent& event = event_of(self);
    void* address = std::exchange(event.object.address, nullptr);
    if (!address || !driver_functions.release_event) return;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    {
        WithoutLock free;  // a thread of the driver may hold its lock and call Python back
        if (event.ward) driver_functions.wait_for_events(1, &address);
        driver_functions.release_event(address);
    }
    PyErr_Restore(type, value, trace);
}

/// _wait(): until the command is done; the driver's code, or None where the event was released
PyObject* wait_for_event(PyObject* self, PyObject*) {
    DriverEvent& event = event_of(self);
    void* address = event.object.address;
    if (!address || !driver_functions.wait_for_events) Py_RETURN_NONE;
    std::int32_t code = 0;
    {
        WithoutLock free;
        code = driver_functions.wait_for_events(1, &address);
    }
    if (code == 0) Py_CLEAR(event.ward);
    return PyLong_FromLong(code);
}

void free_event(PyObject* self) {
    PyObject_GC_UnTrack(self);
    clear_event(self);
    free_object(self);
}

PyGetSetDef object_values[] = {{"_address", get_address, set_address, nullptr, nullptr},
                               {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef queue_members[] = {
    {"_finalized", T_BOOL, offsetof(DriverQueue, is_finalized), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyMemberDef kernel_members[] = {{"_setter", T_OBJECT, offsetof(DriverKernel, setter), 0, nullptr},
                                {"_lock", T_OBJECT, offsetof(DriverKernel, lock), 0, nullptr},
                                {nullptr, 0, 0, 0, nullptr}};

PyMethodDef event_methods[] = {{"_wait", wait_for_event, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

PyMemberDef event_members[] = {{"_ward", T_OBJECT, offsetof(DriverEvent, ward), 0, nullptr},
                               {nullptr, 0, 0, 0, nullptr}};

template <class F>
void* slot(F* f) {
    return reinterpret_cast<void*>(f);
}

/// Adds a type with these slots; null with a Python error set.
PyTypeObject* add(PyObject* module, const char* name, std::size_t size, unsigned long flags,
                  PyType_Slot* slots) {
    PyType_Spec spec{name, static_cast<int>(size), 0, static_cast<unsigned>(flags), slots};
    Ref bases;
    if (driver_object_type) bases = Ref(PyTuple_Pack(1, driver_object_type));
    Ref type(PyType_FromSpecWithBases(&spec, bases.get()));
    if (!type || PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.get())) < 0)
        return nullptr;
    return reinterpret_cast<PyTypeObject*>(type.release());
}

}  // namespace

PyObject* new_event(PyObject* type, void* address) {
    PyObject* made = nullptr;
    auto* t = reinterpret_cast<PyTypeObject*>(type);
    if (!PyType_Check(type) || !PyType_IsSubtype(t, driver_event_type))
        PyErr_SetString(PyExc_TypeError, "expected a class of events");
    else
        made = t->tp_alloc(t, 0);
    if (made)
        event_of(made).object.address = address;
    else
        driver_functions.release_event(address);
    return made;
}

bool add_driver_objects(PyObject* module) {
    PyType_Slot of_object[] = {
        {Py_tp_dealloc, slot(free_object)}, {Py_tp_getset, object_values}, {0, nullptr}};
    PyType_Slot of_queue[] = {
        {Py_tp_dealloc, slot(free_object)}, {Py_tp_members, queue_members}, {0, nullptr}};
    PyType_Slot of_kernel[] = {{Py_tp_dealloc, slot(free_kernel)},
                               {Py_tp_traverse, slot(traverse_kernel)},
                               {Py_tp_clear, slot(clear_kernel)},
                               {Py_tp_members, kernel_members},
                               {0, nullptr}};
    PyType_Slot of_event[] = {{Py_tp_dealloc, slot(free_event)},
                              {Py_tp_finalize, slot(finalize_event)},
                              {Py_tp_traverse, slot(traverse_event)},
                              {Py_tp_clear, slot(clear_event)},
                              {Py_tp_methods, event_methods},
                              {Py_tp_members, event_members},
                              {0, nullptr}};
    constexpr unsigned long plain = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
    driver_object_type =
        add(module, "unisono._engine._DriverObject", sizeof(DriverObject), plain, of_object);
    if (!driver_object_type) return false;
    driver_queue_type =
        add(module, "unisono._engine._DriverQueue", sizeof(DriverQueue), plain, of_queue);
    driver_kernel_type = add(module, "unisono._engine._DriverKernel", sizeof(DriverKernel),
                             plain | Py_TPFLAGS_HAVE_GC, of_kernel);
    driver_event_type = add(module, "unisono._engine._DriverEvent", sizeof(DriverEvent),
                            plain | Py_TPFLAGS_HAVE_GC, of_event);
    return driver_queue_type && driver_kernel_type && driver_event_type;
}

}  // namespace unisono::python
