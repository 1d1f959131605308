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

#include "reference.h"

namespace unisono::python {

namespace {

using SetArgument = std::int32_t (*)(void*, std::uint32_t, std::size_t, const void*);
using Enqueue = std::int32_t (*)(void*, void*, std::uint32_t, const std::size_t*,
                                 const std::size_t*, const std::size_t*, std::uint32_t, void*,
                                 void**);
using Release = std::int32_t (*)(void*);

template <class T>
T address(PyObject* o) {
    void* p = PyLong_AsVoidPtr(o);
    if (!p) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the address is null");
        python_failed();
    }
    return reinterpret_cast<T>(p);
}

/// Whether `arg` is memory that the parameter has already: `known` is the weak reference to it.
bool is_known_memory(PyObject* known, PyObject* arg, PyObject* address_name) {
    if (!PyWeakref_CheckRef(known)) return false;
    PyObject* same = PyWeakref_NewRef(arg, nullptr);  // an object has one
    if (!same) PyErr_Clear();
    Py_XDECREF(same);
    if (same != known) return false;
    Ref held(PyObject_GetAttr(arg, address_name));  // None once it was released
    if (!held) python_failed();
    return PyObject_IsTrue(held.get()) == 1;
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

  private:
    void take(Py_ssize_t k, PyObject* arg) const {
        static PyObject* const address_name = PyUnicode_InternFromString("_address");
        static PyObject* const set_name = PyUnicode_InternFromString("set");
        PyObject* known = PyList_GET_ITEM(last, k);
        std::size_t size = 0;
        char data[8];
        if (letters[k] == 'm') {
            if (is_known_memory(known, arg, address_name)) return;
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

/// _launch_kernel(setter, lock, args, function, queue, global size, local size or None): the
/// event's address, the driver's code where it is below 0, or None for sizes that Python has to
/// look at.
PyObject* launch_kernel(PyObject*, PyObject* const* a, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 7) fail(ErrorKind::Internal, "_launch_kernel: takes seven arguments");
        const Setter setter(a[0]);
        const auto enqueue = address<Enqueue>(a[3]);
        auto* queue = address<void*>(a[4]);
        Held held(a[1]);
        setter.take(a[2]);
        const std::optional<Sizes> global = sizes_of(a[5]);
        std::optional<Sizes> local;
        if (a[6] != Py_None) local = sizes_of(a[6]);
        if (!global || (a[6] != Py_None && (!local || local->count != global->count)))
            return Py_NewRef(Py_None);
        void* event = nullptr;
        std::int32_t code = 0;
        {
            WithoutLock free;  // a thread of the driver may hold its lock and call Python back
            code = enqueue(queue, setter.kernel, static_cast<std::uint32_t>(global->count), nullptr,
                           global->values.data(), local ? local->values.data() : nullptr, 0,
                           nullptr, &event);
        }
        return code ? PyLong_FromLong(code) : PyLong_FromVoidPtr(event);
    });
}

/// _release_object(function, object): calls a function that gives a reference back.
PyObject* release_object(PyObject*, PyObject* const* a, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 2) fail(ErrorKind::Internal, "_release_object: takes function and object");
        const auto release = address<Release>(a[0]);
        auto* object = address<void*>(a[1]);
        WithoutLock free;
        release(object);
        return Py_NewRef(Py_None);
    });
}

template <auto function>
PyCFunction fast() {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"_set_arguments", fast<set_arguments>(), METH_FASTCALL, nullptr},
    {"_launch_kernel", fast<launch_kernel>(), METH_FASTCALL, nullptr},
    {"_release_object", fast<release_object>(), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_driver_calls(PyObject* module) { return PyModule_AddFunctions(module, methods) == 0; }

}  // namespace unisono::python
