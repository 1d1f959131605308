// The types that `unisono.opencl` derives its objects of the driver from: a launch in C reads their
// fields, and an event is given back without Python.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

#include "reference.h"

namespace unisono::python {

/// _engine._DriverObject: an object of the driver by its address, null once it was released.
struct DriverObject {
    PyObject_HEAD void* address;
};

/// _engine._DriverQueue
struct DriverQueue {
    DriverObject object;
    char is_finalized;  ///< whether the block that it was made for has ended
};

/// _engine._DriverKernel
struct DriverKernel {
    DriverObject object;
    PyObject* setter;  ///< owned: what sets its arguments, see driver_calls.cpp; null if unknown
    PyObject* lock;    ///< owned: held while arguments are set and used; null with the setter
};

/// _engine._DriverEvent: given back at its end, which waits for it if it has a ward.
struct DriverEvent {
    DriverObject object;
    PyObject* ward;  ///< owned: object whose memory the command uses, or null
};

extern PyTypeObject *driver_object_type, *driver_queue_type, *driver_kernel_type,
    *driver_event_type;

/// The library's functions, which Python finds; null before it has.
struct DriverFunctions {
    std::int32_t (*enqueue_kernel)(void*, void*, std::uint32_t, const std::size_t*,
                                   const std::size_t*, const std::size_t*, std::uint32_t,
                                   void* const*, void**);
    std::int32_t (*wait_for_events)(std::uint32_t, void* const*);
    std::int32_t (*release_event)(void*);
    std::int32_t (*read_buffer)(void*, void*, std::uint32_t, std::size_t, std::size_t, void*,
                                std::uint32_t, void* const*, void**);
    std::int32_t (*write_buffer)(void*, void*, std::uint32_t, std::size_t, std::size_t, const void*,
                                 std::uint32_t, void* const*, void**);
    std::int32_t (*copy_buffer)(void*, void*, void*, std::size_t, std::size_t, std::size_t,
                                std::uint32_t, void* const*, void**);
    std::int32_t (*fill_buffer)(void*, void*, const void*, std::size_t, std::size_t, std::size_t,
                                std::uint32_t, void* const*, void**);
};
extern DriverFunctions driver_functions;

/// The object as one of a type, or null where it is none or was released.
template <class T>
T* driver_object(PyObject* o, PyTypeObject* type) {
    if (!PyObject_TypeCheck(o, type) || !reinterpret_cast<DriverObject*>(o)->address)
        return nullptr;
    return reinterpret_cast<T*>(o);
}

/// A new event of a class, which derives from _DriverEvent; it takes over the reference.
PyObject* new_event(PyObject* type, void* address);

/// Gives a command to the driver, which has to put the event: an object for that, or the driver's
/// code where it refuses.
template <class Enqueue>
PyObject* enqueued(PyObject* event_type, Enqueue&& enqueue) {
    void* event = nullptr;
    std::int32_t code = 0;
    {
        WithoutLock free;  // a thread of the driver may hold its lock and call Python back
        code = enqueue(&event);
    }
    return code ? PyLong_FromLong(code) : new_event(event_type, event);
}

/// A function of the fast protocol as the tables of methods take it.
template <auto function>
PyCFunction fast() {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// Adds the types to the module; returns false with a Python error set.
bool add_driver_objects(PyObject* module);

}  // namespace unisono::python
