// A kernel's arguments and its launch in one call: what `unisono.opencl` does at each launch.
//
// The functions come as addresses, as Python has them from the library that it loaded. What is no
// plain case (numbers that must be converted, memory that was not the argument before, sizes that
// are no tuples) is left to Python.
#include "driver_calls.h"

#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "driver_copies.h"
#include "driver_objects.h"
#include "reference.h"

namespace unisono::python {

namespace {

using SetArgument = std::int32_t (*)(void*, std::uint32_t, std::size_t, const void*);

template <class T>
T address(PyObject* o) {
    void* p = PyLong_AsVoidPtr(o);
    if (!p) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the address is null");
        python_failed();
    }
    return reinterpret_cast<T>(p);
}

/// What a weak reference stands for, or null where that is gone; borrowed from who keeps it.
PyObject* referent(PyObject* weak) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject* found = nullptr;
    if (PyWeakref_GetRef(weak, &found) < 0) python_failed();
    Py_XDECREF(found);
    return found;
#else
    PyObject* found = PyWeakref_GET_OBJECT(weak);
    return found == Py_None ? nullptr : found;
#endif
}

/// Whether `arg` is memory that the parameter has already: `known` is the weak reference to it.
bool is_known_memory(PyObject* known, PyObject* arg) {
    return PyWeakref_CheckRef(known) && referent(known) == arg &&
           driver_object<DriverObject>(arg, driver_object_type);  // null once it was released
}

template <class T>
std::size_t store(char* to, std::int64_t value) {
    const T narrow = static_cast<T>(value);
    if (static_cast<std::int64_t>(narrow) != value || (std::is_unsigned_v<T> && value < 0))
        return 0;
    std::memcpy(to, &narrow, sizeof narrow);
    return sizeof narrow;
}

/// Bytes of a number for a parameter of a C type, in NumPy's letters; 0 where Python must convert.
std::size_t pack(PyObject* arg, char letter, char (&to)[8]) {
    if (PyFloat_CheckExact(arg)) {
        const double value = PyFloat_AS_DOUBLE(arg);
        const auto narrow = static_cast<float>(value);  // beyond float32 is infinite, as in C
        if (letter == 'd') std::memcpy(to, &value, sizeof value);
        if (letter == 'f') std::memcpy(to, &narrow, sizeof narrow);
        return letter == 'd' ? sizeof value : letter == 'f' ? sizeof narrow : 0;
    }
    std::int64_t value = 0;
    if (!small_integer(arg, value)) return 0;
    switch (letter) {
        case 'b': return store<std::int8_t>(to, value);
        case 'B': return store<std::uint8_t>(to, value);
        case 'h': return store<std::int16_t>(to, value);
        case 'H': return store<std::uint16_t>(to, value);
        case 'i': return store<std::int32_t>(to, value);
        case 'I': return store<std::uint32_t>(to, value);
        case 'l':
        case 'q': return store<std::int64_t>(to, value);
        case 'L':
        case 'Q': return store<std::uint64_t>(to, value);
        default: return 0;
    }
}

/// The same of one of NumPy's scalars of just the parameter's type.
std::size_t bytes_of_scalar(PyObject* arg, char (&to)[8]) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(arg, &buffer, PyBUF_SIMPLE) < 0) {
        PyErr_Clear();
        return 0;
    }
    const auto size = static_cast<std::size_t>(buffer.len);
    if (size <= sizeof to) std::memcpy(to, buffer.buf, size);
    PyBuffer_Release(&buffer);
    return size <= sizeof to ? size : 0;
}

/// What a kernel's arguments are set by: the tuple (function, kernel, parameters, letters, types,
/// last). A letter is "m" for memory, that of a C number, or "?".
struct Setter {
    SetArgument set;
    void* kernel;
    PyObject *parameters, *types, *last;
    const char* letters;

    explicit Setter(PyObject* o) {
        const bool is_tuple = PyTuple_Check(o) && PyTuple_GET_SIZE(o) == 6;
        const auto item = [&](Py_ssize_t k) { return is_tuple ? PyTuple_GET_ITEM(o, k) : Py_None; };
        PyObject* letters_bytes = item(3);
        parameters = item(2);
        types = item(4);
        last = item(5);
        if (!PyTuple_Check(parameters) || !PyBytes_Check(letters_bytes) || !PyTuple_Check(types) ||
            !PyList_Check(last))
            fail(ErrorKind::Internal, "_set_arguments: no setter");
        set = address<SetArgument>(item(0));
        kernel = address<void*>(item(1));
        letters = PyBytes_AS_STRING(letters_bytes);
        count = PyBytes_GET_SIZE(letters_bytes);
        if (PyTuple_GET_SIZE(parameters) != count || PyTuple_GET_SIZE(types) != count ||
            PyList_GET_SIZE(last) != count)
            fail(ErrorKind::Internal, "_set_arguments: lengths differ");
    }

    /// Sets those that are not what `last` says.
    void take(PyObject* args) const {
        if (!PyTuple_Check(args) || PyTuple_GET_SIZE(args) != count)
            fail(ErrorKind::Internal, "_set_arguments: another number of arguments");
        for (Py_ssize_t k = 0; k < count; ++k) take(k, PyTuple_GET_ITEM(args, k));
    }

    /// The same of one.
    void take_one(PyObject* index, PyObject* arg) const {
        const Py_ssize_t k = PyLong_AsSsize_t(index);
        if (k == -1 && PyErr_Occurred()) python_failed();
        if (k < 0 || k >= count) fail(ErrorKind::Internal, "_set_argument: no such argument");
        take(k, arg);
    }

    bool takes(PyObject* args) const {
        return PyTuple_CheckExact(args) && PyTuple_GET_SIZE(args) == count;
    }

    /// Whether no object is gone that was set: drivers keep none.
    bool are_alive() const {
        for (Py_ssize_t k = 0; k < PyList_GET_SIZE(last); ++k) {
            PyObject* known = PyList_GET_ITEM(last, k);
            if (!PyWeakref_CheckRef(known)) continue;
            PyObject* object = referent(known);
            if (!object || !driver_object<DriverObject>(object, driver_object_type)) return false;
        }
        return true;
    }

  private:
    void take(Py_ssize_t k, PyObject* arg) const {
        static PyObject* const set_name = PyUnicode_InternFromString("set");
        PyObject* known = PyList_GET_ITEM(last, k);
        std::size_t size = 0;
        char data[8];
        if (letters[k] == 'm') {
            if (is_known_memory(known, arg)) return;
        } else if (letters[k] != '?') {
            const bool is_exact =
                reinterpret_cast<PyObject*>(Py_TYPE(arg)) == PyTuple_GET_ITEM(types, k);
            size = is_exact ? bytes_of_scalar(arg, data) : pack(arg, letters[k], data);
        }
        if (size && PyBytes_CheckExact(known) &&
            static_cast<std::size_t>(PyBytes_GET_SIZE(known)) == size &&
            std::memcmp(PyBytes_AS_STRING(known), data, size) == 0)
            return;
        if (size && set(kernel, static_cast<std::uint32_t>(k), size, data) == 0) {
            PyObject* bytes = PyBytes_FromStringAndSize(data, static_cast<Py_ssize_t>(size));
            if (!bytes || PyList_SetItem(last, k, bytes) < 0) python_failed();
            return;
        }
        // Converts, or raises what is wrong.
        PyObject* given[] = {PyTuple_GET_ITEM(parameters, k), arg, last};
        Ref done(PyObject_VectorcallMethod(set_name, given, 3, nullptr));
        if (!done) python_failed();
    }

    Py_ssize_t count;
};

/// _set_arguments(setter, args): sets those arguments that are not set to that already.
PyObject* set_arguments(PyObject*, PyObject* const* a, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 2) fail(ErrorKind::Internal, "_set_arguments: takes two arguments");
        Setter(a[0]).take(a[1]);
        return Py_NewRef(Py_None);
    });
}

/// _set_argument(setter, index, arg): the same of one argument.
PyObject* set_argument(PyObject*, PyObject* const* a, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 3) fail(ErrorKind::Internal, "_set_argument: takes three arguments");
        Setter(a[0]).take_one(a[1], a[2]);
        return Py_NewRef(Py_None);
    });
}

/// A lock of Python's, held: arguments belong to a kernel, not to its launch.
class Held {
  public:
    explicit Held(PyObject* lock) : lock_(lock) {
        static PyObject* const acquire = PyUnicode_InternFromString("acquire");
        Ref done(PyObject_CallMethodNoArgs(lock, acquire));
        if (!done) python_failed();
    }
    ~Held() {
        static PyObject* const release = PyUnicode_InternFromString("release");
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        Py_XDECREF(PyObject_CallMethodNoArgs(lock_, release));
        PyErr_Restore(type, value, trace);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

  private:
    PyObject* lock_;
};

struct Sizes {
    std::array<std::size_t, 3> values;
    Py_ssize_t count;
};

/// Of a tuple of one to three positive numbers, with no more work-items than drivers can count.
std::optional<Sizes> sizes_of(PyObject* o) {
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    std::int64_t items = 1;
    Sizes made{};
    if (!PyTuple_CheckExact(o)) return std::nullopt;
    made.count = PyTuple_GET_SIZE(o);
    if (made.count < 1 || made.count > 3) return std::nullopt;
    for (Py_ssize_t k = 0; k < made.count; ++k) {
        std::int64_t value = 0;
        if (!small_integer(PyTuple_GET_ITEM(o, k), value) || value < 1) return std::nullopt;
        made.values[static_cast<std::size_t>(k)] = static_cast<std::size_t>(value);
        if (value > most / items) return std::nullopt;
        items *= value;
    }
    return made;
}

/// The events to wait for: of a list or tuple, or None.
struct WaitList {
    static constexpr Py_ssize_t most = 16;
    std::array<void*, most> addresses;
    std::uint32_t count = 0;

    /// False where Python has to look at them.
    bool read(PyObject* o) {
        if (o == Py_None) return true;
        if (!PyList_CheckExact(o) && !PyTuple_CheckExact(o)) return false;
        const Py_ssize_t size = PySequence_Fast_GET_SIZE(o);
        if (size > most) return false;
        for (; count < size; ++count) {
            PyObject* item = PySequence_Fast_GET_ITEM(o, static_cast<Py_ssize_t>(count));
            const auto* event = driver_object<DriverObject>(item, driver_event_type);
            if (!event) return false;
            addresses[count] = event->address;
        }
        return true;
    }
};

/// What a launch asks for beside its arguments.
struct Launch {
    DriverQueue* queue = nullptr;
    DriverKernel* kernel = nullptr;
    std::optional<Sizes> global, local;
    WaitList events;

    /// False for what Python has to look at. The event is one of a subclass of _DriverEvent.
    bool read(PyObject* of_queue, PyObject* of_kernel, PyObject* of_global, PyObject* of_local,
              PyObject* of_events) {
        queue = driver_object<DriverQueue>(of_queue, driver_queue_type);
        kernel = driver_object<DriverKernel>(of_kernel, driver_kernel_type);
        if (!queue || queue->is_finalized || !kernel || !kernel->setter || !kernel->lock ||
            !driver_functions.enqueue_kernel)
            return false;
        global = sizes_of(of_global);
        if (!global || !events.read(of_events)) return false;
        if (of_local == Py_None) return true;
        local = sizes_of(of_local);
        return local && local->count == global->count;
    }

    /// The event, or the driver's code where it refuses.
    PyObject* run(PyObject* event_type) const {
        return enqueued(event_type, [&](void** event) {
            return driver_functions.enqueue_kernel(
                queue->object.address, kernel->object.address,
                static_cast<std::uint32_t>(global->count), nullptr, global->values.data(),
                local ? local->values.data() : nullptr, events.count,
                events.count ? events.addresses.data() : nullptr, event);
        });
    }
};

/// _enqueue_kernel(class of the event, queue, kernel, global size, local size or None, events):
/// launches a kernel whose arguments are set. Its event, the driver's code where it refuses, or
/// None for what Python has to look at.
PyObject* enqueue_kernel(PyObject*, PyObject* const* a, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 6) fail(ErrorKind::Internal, "_enqueue_kernel: takes six arguments");
        Launch launch;
        if (!launch.read(a[1], a[2], a[3], a[4], a[5]) ||
            !Setter(launch.kernel->setter).are_alive())
            return Py_NewRef(Py_None);
        return launch.run(a[0]);
    });
}

/// _launch_kernel(class of the event, queue, kernel, global size, local size or None, events,
/// arguments): the same behind the setting of the arguments.
PyObject* launch_kernel(PyObject*, PyObject* const* a, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 7) fail(ErrorKind::Internal, "_launch_kernel: takes seven arguments");
        Launch launch;
        if (!launch.read(a[1], a[2], a[3], a[4], a[5])) return Py_NewRef(Py_None);
        const Ref kept = Ref::of(launch.kernel->setter), lock = Ref::of(launch.kernel->lock);
        const Setter setter(kept.get());
        if (!setter.takes(a[6])) return Py_NewRef(Py_None);
        Held held(lock.get());
        setter.take(a[6]);
        return launch.run(a[0]);
    });
}

/// _set_driver_functions(address, ...): of those of DriverFunctions, in their order
PyObject* set_driver_functions(PyObject*, PyObject* const* a, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 7) fail(ErrorKind::Internal, "_set_driver_functions: takes seven addresses");
        driver_functions = {address<decltype(DriverFunctions::enqueue_kernel)>(a[0]),
                            address<decltype(DriverFunctions::wait_for_events)>(a[1]),
                            address<decltype(DriverFunctions::release_event)>(a[2]),
                            address<decltype(DriverFunctions::read_buffer)>(a[3]),
                            address<decltype(DriverFunctions::write_buffer)>(a[4]),
                            address<decltype(DriverFunctions::copy_buffer)>(a[5]),
                            address<decltype(DriverFunctions::fill_buffer)>(a[6])};
        return Py_NewRef(Py_None);
    });
}

PyMethodDef methods[] = {
    {"_set_arguments", fast<set_arguments>(), METH_FASTCALL, nullptr},
    {"_set_argument", fast<set_argument>(), METH_FASTCALL, nullptr},
    {"_enqueue_kernel", fast<enqueue_kernel>(), METH_FASTCALL, nullptr},
    {"_launch_kernel", fast<launch_kernel>(), METH_FASTCALL, nullptr},
    {"_set_driver_functions", fast<set_driver_functions>(), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_driver_calls(PyObject* module) {
    return add_driver_objects(module) && add_driver_copies(module) &&
           PyModule_AddFunctions(module, methods) == 0;
}

}  // namespace unisono::python
