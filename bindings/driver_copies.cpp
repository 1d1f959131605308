// Copies of whole arrays and buffers, and fills, as most calls ask for them. What is no plain case
// (parts, wait lists, images, objects of the host that are not packed) is left to Python.
#include "driver_copies.h"

#include <algorithm>

#include "driver_objects.h"

namespace unisono::python {

namespace {

/// The bytes of an object that follow each other, as long as this lives.
struct HostBytes {
    Py_buffer view{};
    bool is_held;

    HostBytes(PyObject* o, bool are_written)
        : is_held(PyObject_GetBuffer(o, &view, are_written ? PyBUF_WRITABLE : PyBUF_SIMPLE) == 0) {
        if (!is_held) PyErr_Clear();
    }
    ~HostBytes() {
        if (is_held) PyBuffer_Release(&view);
    }
    HostBytes(const HostBytes&) = delete;
    HostBytes& operator=(const HostBytes&) = delete;
    std::size_t size() const { return is_held ? static_cast<std::size_t>(view.len) : 0; }
};

/// A number of bytes; 0 for what is no int of few digits.
std::size_t bytes_of(PyObject* o) {
    std::int64_t value = 0;
    return small_integer(o, value) && value > 0 ? static_cast<std::size_t>(value) : 0;
}

void* queue_of(PyObject* o) {
    const auto* queue = driver_object<DriverQueue>(o, driver_queue_type);
    return queue && !queue->is_finalized ? queue->object.address : nullptr;
}

void* memory_of(PyObject* o) {
    const auto* memory = driver_object<DriverObject>(o, driver_object_type);
    return memory ? memory->address : nullptr;
}

/// _transfer(class of the event, queue, buffer, its bytes, object of the host, whether it is read
/// into): copies all bytes of the object from or to the begin of the buffer, and waits. The event,
/// the driver's code where it refuses, or None for what Python has to look at.
PyObject* transfer(PyObject*, PyObject* const* a, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 6) fail(ErrorKind::Internal, "_transfer: takes six arguments");
        const bool is_read = a[5] == Py_True;
        void *queue = queue_of(a[1]), *memory = memory_of(a[2]);
        const HostBytes bytes(a[4], is_read);
        const std::size_t count = bytes.size();
        if (!queue || !memory || count == 0 || count > bytes_of(a[3])) return Py_NewRef(Py_None);
        const auto& d = driver_functions;
        return enqueued(a[0], [&](void** event) {
            return is_read ? d.read_buffer(queue, memory, 1, 0, count, bytes.view.buf, 0, nullptr,
                                           event)
                           : d.write_buffer(queue, memory, 1, 0, count, bytes.view.buf, 0, nullptr,
                                            event);
        });
    });
}

/// _copy_buffer(class of the event, queue, buffer to, its bytes, buffer from, its bytes): copies as
/// many bytes as both have; the same.
PyObject* copy_buffer(PyObject*, PyObject* const* a, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 6) fail(ErrorKind::Internal, "_copy_buffer: takes six arguments");
        void *queue = queue_of(a[1]), *to = memory_of(a[2]), *from = memory_of(a[4]);
        const std::size_t count = std::min(bytes_of(a[3]), bytes_of(a[5]));
        if (!queue || !to || !from || count == 0) return Py_NewRef(Py_None);
        return enqueued(a[0], [&](void** event) {
            return driver_functions.copy_buffer(queue, from, to, 0, 0, count, 0, nullptr, event);
        });
    });
}

/// _fill_buffer(class of the event, queue, buffer, its bytes, pattern, offset, bytes): the same.
PyObject* fill_buffer(PyObject*, PyObject* const* a, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 7) fail(ErrorKind::Internal, "_fill_buffer: takes seven arguments");
        void *queue = queue_of(a[1]), *memory = memory_of(a[2]);
        const HostBytes pattern(a[4], false);
        const std::size_t whole = bytes_of(a[3]), count = bytes_of(a[6]), width = pattern.size();
        std::int64_t offset = 0;
        const bool is_plain = small_integer(a[5], offset) && offset >= 0;
        const auto at = static_cast<std::size_t>(offset);
        if (!queue || !memory || !is_plain || count == 0 || count > whole || at > whole - count)
            return Py_NewRef(Py_None);
        if (width == 0 || width > 128 || (width & (width - 1)) || at % width || count % width)
            return Py_NewRef(Py_None);
        return enqueued(a[0], [&](void** event) {
            return driver_functions.fill_buffer(queue, memory, pattern.view.buf, width, at, count,
                                                0, nullptr, event);
        });
    });
}

PyMethodDef methods[] = {
    {"_transfer", fast<transfer>(), METH_FASTCALL, nullptr},
    {"_copy_buffer", fast<copy_buffer>(), METH_FASTCALL, nullptr},
    {"_fill_buffer", fast<fill_buffer>(), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_driver_copies(PyObject* module) { return PyModule_AddFunctions(module, methods) == 0; }

}  // namespace unisono::python
