// The functions behind python/unisono/random/: draws keyed by seed, stream and element index.
#include "functions/random.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array/known_values.h"
#include "array/object.h"
#include "library/random/bit_stream.h"
#include "library/random/random.h"
#include "primitives/primitive.h"
#include "tape/record/record.h"

namespace nb = nanobind;

namespace unisono::python {

namespace {

std::uint64_t to_uint64(PyObject* o) {
    std::uint64_t v = PyLong_AsUnsignedLongLongMask(o);
    if (PyErr_Occurred()) throw PythonError{};
    return v;
}

/// The second word has the number of a library's generator above its 32 bits.
library::RandomKey key_of(PyObject* const* args) {
    const std::uint64_t stream = to_uint64(args[1]);
    return {to_uint64(args[0]), static_cast<std::uint32_t>(stream), to_uint64(args[2]),
            static_cast<std::uint32_t>(stream >> 32)};
}

/// Up to three numbers or arrays of float64; returns how many.
std::size_t read_parameters(PyObject* tuple, library::Parameter* parameters) {
    auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(tuple));
    for (std::size_t k = 0; k < count; ++k) {
        PyObject* o = PyTuple_GET_ITEM(tuple, static_cast<Py_ssize_t>(k));
        if (is_array(o)) {
            parameters[k].array = materialised(used_array(o));
            parameters[k].is_array = true;
        } else {
            parameters[k].value = PyFloat_AsDouble(o);
            if (PyErr_Occurred()) throw PythonError{};
        }
    }
    return count;
}

/// Where an array of that shape is drawn: one number, of which no place was said, on the host.
Device* place_of(PyObject* device, Dims shape) {
    return device == Py_None && shape.empty() ? nullptr : to_device_pointer(device);
}

/// A drawn number as one of Python's, whose dtype adapts to arrays beside it, as that of numbers
/// from NumPy's generators; arrays, and integers of a chosen dtype, as they are.
PyObject* wrap_drawn(const Array& a, bool is_integer_plain = false) {
    PyObject* drawn = wrap(a);
    if (!drawn || a.rank() != 0 || !(is_float(a.dtype()) || is_integer_plain)) return drawn;
    const KnownValue known = known_value(drawn);
    if (!known) return drawn;
    Py_DECREF(drawn);
    return to_python(known.scalar());
}

/// _random(name, parameters, shape, dtype, key, stream, next, device)
PyObject* random_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 8 || !PyTuple_Check(args[1]) || PyTuple_GET_SIZE(args[1]) > 3)
            fail(ErrorKind::Internal, "_random: takes 8 arguments");
        library::Parameter parameters[3];
        std::size_t count = read_parameters(args[1], parameters);
        note_line();
        const auto shape = to_shape(args[2]);
        return wrap_drawn(library::draw(library::distribution_named(PyUnicode_AsUTF8(args[0])),
                                        {parameters, count}, shape, to_dtype(args[3]),
                                        key_of(args + 4), place_of(args[7], shape)),
                          true);
    });
}

/// _random_integers(low, span, shape, dtype, key, stream, next, device)
PyObject* integers_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 8) fail(ErrorKind::Internal, "_random_integers: takes 8 arguments");
        note_line();
        const auto shape = to_shape(args[2]);
        return wrap(library::draw_integers(static_cast<std::int64_t>(to_uint64(args[0])),
                                           to_uint64(args[1]), shape, to_dtype(args[3]),
                                           key_of(args + 4), place_of(args[7], shape)));
    });
}

/// _random_permutations(count, n, key, stream, next, device)
PyObject* permutations_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 6) fail(ErrorKind::Internal, "_random_permutations: takes 6 arguments");
        note_line();
        return wrap(library::draw_permutations(to_int64(args[0]), to_int64(args[1]),
                                               key_of(args + 2), to_device_pointer(args[5])));
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

/// What NumPy's generators draw from, as numpy/random/bitgen.h has it.
struct NumPySource {
    library::BitStream* state;
    std::uint64_t (*next_uint64)(library::BitStream*);
    std::uint32_t (*next_uint32)(library::BitStream*);
    double (*next_double)(library::BitStream*);
    std::uint64_t (*next_raw)(library::BitStream*);
};

/// One of NumPy's sequential streams.
struct PyStream {
    std::unique_ptr<library::BitStream> stream;
    NumPySource source;

    explicit PyStream(const std::string& kind) : stream(library::make_bit_stream(kind)) {
        using Stream = library::BitStream;
        source = {stream.get(), [](Stream* s) { return s->next64(); },
                  [](Stream* s) { return s->next32(); }, [](Stream* s) { return s->next_double(); },
                  [](Stream* s) { return s->next64(); }};
        // The twister makes words of 32 bits.
        if (kind == "mt19937")
            source.next_raw = [](Stream* s) { return std::uint64_t{s->next32()}; };
    }
};

library::IntegerMethod method_of(bool masked) {
    return masked ? library::IntegerMethod::Masked : library::IntegerMethod::Multiplied;
}

/// Runs f, whose array becomes a Python object; errors become nanobind's.
template <class F>
nb::object made(F&& f) {
    try {
        return nb::steal(wrap_drawn(f()));
    } catch (const PythonError&) {
        throw nb::python_error();
    }
}

void bind_streams(nb::module_ m) {
    using namespace library;
    nb::class_<PyStream>(m, "_BitStream")
        .def("__init__", [](PyStream* self, const std::string& kind) { new (self) PyStream(kind); })
        .def("capsule",
             [](PyStream& s) {
                 return nb::steal(PyCapsule_New(&s.source, "BitGenerator", nullptr));
             })
        .def("seed", [](PyStream& s, const std::vector<std::uint32_t>& w,
                        bool sequence) { seed_legacy(*s.stream, w, sequence); })
        .def("state", [](PyStream& s) { return s.stream->state(); })
        .def("set_state",
             [](PyStream& s, const std::vector<std::uint64_t>& w) { s.stream->set_state(w); })
        .def("gauss",
             [](PyStream& s) { return nb::make_tuple(s.stream->has_gauss, s.stream->gauss); })
        .def("set_gauss",
             [](PyStream& s, bool has, double gauss) {
                 s.stream->has_gauss = has;
                 s.stream->gauss = gauss;
             })
        .def("doubles",
             [](PyStream& s, double low, double width, nb::handle shape, nb::handle dtype) {
                 return made([&] {
                     return stream_doubles(*s.stream, low, width, to_shape(shape.ptr()),
                                           to_dtype(dtype.ptr()));
                 });
             })
        .def("integers",
             [](PyStream& s, bool masked, nb::handle low, nb::handle span, nb::handle shape,
                nb::handle dtype) {
                 return made([&] {
                     return stream_integers(*s.stream, method_of(masked),
                                            static_cast<std::int64_t>(to_uint64(low.ptr())),
                                            to_uint64(span.ptr()), to_shape(shape.ptr()),
                                            to_dtype(dtype.ptr()));
                 });
             })
        .def("legacy_normal",
             [](PyStream& s, double mean, double deviation, nb::handle shape) {
                 return made([&] {
                     return stream_legacy_normal(*s.stream, mean, deviation, to_shape(shape.ptr()));
                 });
             })
        .def("legacy_exponential",
             [](PyStream& s, double scale, nb::handle shape) {
                 return made([&] {
                     return stream_legacy_exponential(*s.stream, scale, to_shape(shape.ptr()));
                 });
             })
        .def("permutation",
             [](PyStream& s, bool masked, std::int64_t n) {
                 return made([&] { return stream_permutation(*s.stream, method_of(masked), n); });
             })
        .def("sample",
             [](PyStream& s, std::int64_t pool, std::int64_t n, bool shuffled) {
                 return made([&] { return stream_sample(*s.stream, pool, n, shuffled); });
             })
        .def("draw", [](PyStream& s, const std::string& name, nb::handle parameters,
                        nb::handle shape, nb::handle dtype) {
            return made([&] {
                Parameter p[3];
                std::size_t count = read_parameters(parameters.ptr(), p);
                return stream_draw(*s.stream, distribution_named(name), {p, count},
                                   to_shape(shape.ptr()), to_dtype(dtype.ptr()));
            });
        });
}

}  // namespace

bool add_random(PyObject* module) {
    bind_streams(nb::borrow<nb::module_>(module));
    nb::borrow<nb::module_>(module).def(
        "_tell_numpy_sampler", [](const std::string& name, std::uintptr_t address) {
            library::tell_numpy_sampler(name, reinterpret_cast<void*>(address));
        });
    return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace unisono::python
