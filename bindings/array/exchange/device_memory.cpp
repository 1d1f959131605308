// Arrays in memory of a kind, and exchange of buffers with libraries that use the same driver.
#include <algorithm>
#include <cstring>
#include <vector>

#include "array/exchange/adopt.h"
#include "array/object.h"
#include "backends/stream_source.h"
#include "errors.h"
#include "reference.h"
#include "tape/block.h"
#include "tape/run/submission.h"
#include "tape/tape.h"

namespace unisono::python {

namespace {

MemoryKind to_kind(PyObject* o) {
    const char* text = PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : "";
    const auto found = std::find(memory_kind_names.begin(), memory_kind_names.end(), text);
    if (found == memory_kind_names.end()) {
        PyErr_Format(PyExc_ValueError,
                     "memory: expected 'device', 'shared', 'pinned' or 'host'; got %R", o);
        throw PythonError{};
    }
    return static_cast<MemoryKind>(found - memory_kind_names.begin());
}

/// _empty_of_kind(kind, shape, dtype, device)
PyObject* empty_of_kind_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 4) fail(ErrorKind::Internal, "_empty_of_kind: takes kind, shape, dtype, device");
        return wrap(empty_of_kind(to_kind(args[0]), to_shape(args[1]), to_dtype(args[2]),
                                  to_device_pointer(args[3])));
    });
}

/// _bytes_by_kind(device): what arrays use of each kind.
PyObject* bytes_by_kind(PyObject*, PyObject* name) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        Device& device = find_device(PyUnicode_AsUTF8(name));
        const auto* source = dynamic_cast<BlockSource*>(&device);
        auto bytes = [&](MemoryKind kind) {
            return static_cast<long long>(source ? source->in_use(kind) : 0);
        };
        return Py_BuildValue("{sLsLsL}", "device",
                             static_cast<long long>(device.pool().usage().in_use), "pinned",
                             bytes(MemoryKind::Pinned), "shared", bytes(MemoryKind::Shared));
    });
}

Device& device_with_handles(PyObject* o) {
    Device* device = to_device_pointer(o);
    if (!device || !device->native().context) {
        fail(ErrorKind::Device, "device '" + device_name(device) +
                                    "' has no objects of a driver; expected an OpenCL device");
    }
    return *device;
}

/// _native_handles(device): addresses of context, device and the queue of the thread.
PyObject* native_handles(PyObject*, PyObject* o) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        const NativeHandles h = device_with_handles(o).native();
        return Py_BuildValue("(KKK)", reinterpret_cast<unsigned long long>(h.context),
                             reinterpret_cast<unsigned long long>(h.device),
                             reinterpret_cast<unsigned long long>(h.queue));
    });
}

/// _lend_buffer(array): address of the driver's buffer and the first element's offset in bytes.
/// From then on others may use the memory.
PyObject* lend_buffer(PyObject*, PyObject* o) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        const Array& a = array_of(o);
        Storage* s = a.view().storage;
        if (!s || s->addressable()) {
            fail(ErrorKind::Device,
                 "to_pyopencl: the array is in memory of the host; expected an array on an OpenCL "
                 "device; use .to_device(\"opencl\") first");
        }
        Tape::current().complete_for_write(s, FlushReason::Shared);
        s->allocate();
        ++s->exports;  // for as long as it lives
        begin_outside_use(*s);
        wait_for_memory(*s);
        return Py_BuildValue("(KL)", static_cast<unsigned long long>(s->memory.handle),
                             static_cast<long long>(a.view().offset * size_of(a.dtype())));
    });
}

/// _lend_on_stream(array): address of the first element, and the stream behind whose work the
/// elements are there. From then on others may use the memory.
PyObject* lend_on_stream(PyObject*, PyObject* o) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        const Array& a = array_of(o);
        Storage* s = a.view().storage;
        if (a.readonly())
            Tape::current().complete(s, FlushReason::Shared);
        else
            Tape::current().complete_for_write(s, FlushReason::Shared);
        s->allocate();
        ++s->exports;  // for as long as it lives: nobody tells when they are done
        begin_outside_use(*s);
        if (s->use->fault) wait_for_memory(*s);
        const std::int64_t offset = a.view().offset * size_of(a.dtype());
        const auto address =
            a.size() == 0 ? 0 : static_cast<std::int64_t>(s->memory.handle) + offset;
        QueueScope scope(*s->device->own_queue(), {});
        return Py_BuildValue("(LK)", static_cast<long long>(address),
                             reinterpret_cast<unsigned long long>(s->device->native().queue));
    });
}

/// _lend_on_host(array): address of the first element in the host's memory. From then on others may
/// use the memory: statements on it are complete when they return.
PyObject* lend_on_host(PyObject*, PyObject* o) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        Py_buffer held;
        if (PyObject_GetBuffer(o, &held, PyBUF_FULL_RO) != 0) throw PythonError{};
        PyObject* made = PyLong_FromVoidPtr(held.buf);
        PyBuffer_Release(&held);
        const Array& a = array_of(o);
        if (!a.is_known()) ++a.view().storage->exports;  // for as long as it lives
        return made;
    });
}

/// _device_of_address(address): name of the device whose memory that is; None where there is none.
PyObject* device_of_address(PyObject*, PyObject* o) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        const void* address = PyLong_AsVoidPtr(o);
        if (PyErr_Occurred()) throw PythonError{};
        for (Device* d : all_devices()) {
            auto* source = dynamic_cast<StreamSource*>(d);
            if (source && source->owns(address))
                return PyUnicode_FromString(d->info().name.c_str());
        }
        Py_RETURN_NONE;
    });
}

/// _place_on_device(array): a number of the memory, the same for all arrays in it, and the first
/// element's offset in bytes; None for memory of the host.
PyObject* place_on_device(PyObject*, PyObject* o) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        const Array& a = array_of(o);
        const Storage* s = a.view().storage;
        if (!s || !s->device) Py_RETURN_NONE;
        // Buffers of others may have been taken in more than once.
        const auto number = s->borrowed ? static_cast<std::uintptr_t>(s->memory.handle)
                                        : reinterpret_cast<std::uintptr_t>(s);
        return Py_BuildValue("(KL)", static_cast<unsigned long long>(number),
                             static_cast<long long>(a.view().offset * size_of(a.dtype())));
    });
}

/// Keeps an object until the memory is given back, on whichever thread that is.
std::shared_ptr<void> kept(PyObject* object) {
    return {Py_NewRef(object), [](void* held) {
                const PyGILState_STATE state = PyGILState_Ensure();
                Py_DECREF(static_cast<PyObject*>(held));
                PyGILState_Release(state);
            }};
}

/// _adopt_buffer(device, buffer, address, bytes, queue, owner, dtype, shape, strides, offset):
/// addresses of the driver's objects, 0 for none, the buffer's or that of shared memory; strides
/// and offset in bytes.
PyObject* adopt_buffer(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 10) fail(ErrorKind::Internal, "_adopt_buffer: takes ten arguments");
        Device& device = device_with_handles(args[0]);
        ForeignMemory theirs{PyLong_AsVoidPtr(args[1]), PyLong_AsVoidPtr(args[2]),
                             to_int64(args[3]), PyLong_AsVoidPtr(args[4]), kept(args[5])};
        const DType dtype = to_dtype(args[6]);
        const std::vector<std::int64_t> shape = to_shape(args[7]);
        std::vector<std::int64_t> strides;
        const std::int64_t width = size_of(dtype), offset = to_int64(args[9]);
        PyObject* given = args[8];
        bool fits = offset % width == 0 && PyTuple_Check(given) &&
                    PyTuple_GET_SIZE(given) == static_cast<Py_ssize_t>(shape.size());
        for (std::size_t k = 0; fits && k < shape.size(); ++k) {
            const std::int64_t bytes =
                to_int64(PyTuple_GET_ITEM(given, static_cast<Py_ssize_t>(k)));
            strides.push_back(bytes / width);
            fits = bytes % width == 0;
        }
        auto* source = dynamic_cast<BlockSource*>(&device);
        if (!fits || !source) {
            fail(ErrorKind::Value,
                 "asarray: the elements of the buffer do not lie at multiples of their size");
        }
        const Array made = array_over(source->adopt_block(std::move(theirs)), device,
                                      Layout::make(shape, strides), dtype, offset / width);
        // The device's own queue comes behind theirs, and what others of ours do behind that one.
        if (dynamic_cast<StreamSource*>(&device)) note_outside_use(*made.view().storage);
        return wrap(made);
    });
}

PyMethodDef device_memory_methods[] = {
    {"_empty_of_kind",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(empty_of_kind_function)),
     METH_FASTCALL, nullptr},
    {"_bytes_by_kind", bytes_by_kind, METH_O, nullptr},
    {"_native_handles", native_handles, METH_O, nullptr},
    {"_lend_buffer", lend_buffer, METH_O, nullptr},
    {"_lend_on_stream", lend_on_stream, METH_O, nullptr},
    {"_lend_on_host", lend_on_host, METH_O, nullptr},
    {"_device_of_address", device_of_address, METH_O, nullptr},
    {"_place_on_device", place_on_device, METH_O, nullptr},
    {"_adopt_buffer", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(adopt_buffer)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* shared_on_device(PyObject* o) {
    if (!(Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE) || is_array(o) || is_value_object(o) ||
        has_buffer_of_array(o) || PyType_Check(o))
        return nullptr;
    if (PyObject_HasAttrString(o, "__cupy_get_ndarray__")) {
        Ref made(PyObject_CallMethod(o, "__cupy_get_ndarray__", nullptr));
        if (!made.p) python_failed();
        return made.release();
    }
    if (PyObject_HasAttrString(o, "__cuda_array_interface__")) {
        Ref module(PyImport_ImportModule("unisono._arrays.exchange.cuda_memory"));
        Ref made(module.p ? PyObject_CallMethod(module.p, "shared", "O", o) : nullptr);
        if (!made.p) python_failed();
        return made.release();
    }
    PyObject* classes = Py_TYPE(o)->tp_mro;
    bool is_named_so = false;
    for (Py_ssize_t k = 0; classes && k < PyTuple_GET_SIZE(classes); ++k) {
        const auto* type = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(classes, k));
        is_named_so |= std::strcmp(type->tp_name, "Array") == 0;
    }
    if (!is_named_so || !PyObject_HasAttrString(o, "base_data")) return nullptr;
    Ref module(PyImport_ImportModule("unisono.opencl"));
    Ref made(module.p ? PyObject_CallMethod(module.p, "_of_pyopencl", "O", o) : nullptr);
    if (!made.p) python_failed();
    return made.release();
}

bool add_device_memory(PyObject* module) {
    return PyModule_AddFunctions(module, device_memory_methods) == 0;
}

}  // namespace unisono::python
