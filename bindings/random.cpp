// What python/unisono/random.py is made of: draws keyed by seed, stream and element index.
#include "random.h"

#include "array_object.h"
#include "library/call.h"
#include "library/random.h"

namespace unisono::python {

namespace {

std::uint64_t to_uint64(PyObject* o) {
    std::uint64_t v = PyLong_AsUnsignedLongLongMask(o);
    if (PyErr_Occurred()) throw PythonError{};
    return v;
}

library::RandomKey key_of(PyObject* const* args) {
    return {to_uint64(args[0]), static_cast<std::uint32_t>(to_uint64(args[1])), to_uint64(args[2])};
}

/// _random(name, parameters, shape, dtype, key, stream, next)
PyObject* random_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 7 || !PyTuple_Check(args[1]) || PyTuple_GET_SIZE(args[1]) > 3)
            fail(ErrorKind::Internal, "_random: takes 7 arguments");
        library::Parameter parameters[3];
        auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(args[1]));
        for (std::size_t k = 0; k < count; ++k) {
            PyObject* o = PyTuple_GET_ITEM(args[1], static_cast<Py_ssize_t>(k));
            if (is_array(o)) {
                parameters[k].array = library::stored(array_of(o));
                parameters[k].is_array = true;
            } else {
                parameters[k].value = PyFloat_AsDouble(o);
                if (PyErr_Occurred()) throw PythonError{};
            }
        }
        note_line();
        return wrap(library::draw(library::distribution_named(PyUnicode_AsUTF8(args[0])),
                                  {parameters, count}, to_shape(args[2]), to_dtype(args[3]),
                                  key_of(args + 4)));
    });
}

/// _random_integers(low, span, shape, dtype, key, stream, next)
PyObject* integers_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 7) fail(ErrorKind::Internal, "_random_integers: takes 7 arguments");
        note_line();
        return wrap(library::draw_integers(static_cast<std::int64_t>(to_uint64(args[0])),
                                           to_uint64(args[1]), to_shape(args[2]), to_dtype(args[3]),
                                           key_of(args + 4)));
    });
}

/// _random_permutations(count, n, key, stream, next)
PyObject* permutations_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 5) fail(ErrorKind::Internal, "_random_permutations: takes 5 arguments");
        note_line();
        return wrap(
            library::draw_permutations(to_int64(args[0]), to_int64(args[1]), key_of(args + 2)));
    });
}

PyMethodDef functions[] = {
    {"_random", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(random_function)),
     METH_FASTCALL, nullptr},
    {"_random_integers",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(integers_function)), METH_FASTCALL,
     nullptr},
    {"_random_permutations",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(permutations_function)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_random(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace unisono::python
