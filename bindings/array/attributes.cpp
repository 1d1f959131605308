// Attributes of the array type.
#include "array/object.h"
#include "array/shape.h"
#include "reference.h"
#include "tape/block.h"

namespace unisono::python {

namespace {

PyObject* tuple_of(Dims dims, std::int64_t scale) {
    PyObject* t = PyTuple_New(static_cast<Py_ssize_t>(dims.size()));
    for (std::size_t k = 0; t && k < dims.size(); ++k) {
        PyTuple_SET_ITEM(t, static_cast<Py_ssize_t>(k), PyLong_FromLongLong(dims[k] * scale));
    }
    return t;
}

PyObject* get_shape(PyObject* self, void*) { return tuple_of(array_of(self).shape(), 1); }
PyObject* get_strides(PyObject* self, void*) {
    return tuple_of(array_of(self).strides(), size_of(array_of(self).dtype()));
}
PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromLong(array_of(self).rank()); }
PyObject* get_size(PyObject* self, void*) { return PyLong_FromLongLong(array_of(self).size()); }
PyObject* get_itemsize(PyObject* self, void*) {
    return PyLong_FromLongLong(size_of(array_of(self).dtype()));
}
PyObject* get_nbytes(PyObject* self, void*) {
    return PyLong_FromLongLong(array_of(self).size() * size_of(array_of(self).dtype()));
}
PyObject* get_dtype(PyObject* self, void*) { return dtype_object(array_of(self).dtype()); }
PyObject* get_device(PyObject* self, void*) {
    return guarded<PyObject*>(nullptr, [&] { return device_object(used_array(self).device()); });
}
PyObject* get_memory(PyObject* self, void*) {
    return guarded<PyObject*>(nullptr, [&] {
        const auto kind = static_cast<std::size_t>(memory_kind(array_of(self)));
        return PyUnicode_FromString(memory_kind_names[kind].data());
    });
}
PyObject* get_transposed(PyObject* self, void*) {
    return guarded<PyObject*>(nullptr, [&] {
        const Array& a = used_array(self);
        return wrap(a.is_value() ? a : transpose(a));
    });
}

/// The class that represents values of a kind that are still to be computed, so that isinstance
/// distinguishes numbers from arrays: it is registered with the abstract class of `numbers` at its
/// first use.
PyObject* class_of_values(const char* name, const char* abstract) {
    PyType_Slot slots[] = {{0, nullptr}};
    PyType_Spec spec{name, 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    PyObject* made = derived_class(&spec, array_type);
    if (!made) return nullptr;
    Ref module(PyImport_ImportModule("numbers"));
    Ref kind(module.p ? PyObject_GetAttrString(module.p, abstract) : nullptr);
    Ref done(kind.p ? PyObject_CallMethod(kind.p, "register", "O", made) : nullptr);
    if (done.p) return made;
    Py_DECREF(made);
    return nullptr;
}

/// The object's class; for values that are still to be computed the class that they will have, or
/// the class above where that is one of Python's numbers, which they are not yet.
PyObject* get_class(PyObject* self, void*) noexcept {
    const Array& a = array_of(self);
    if (!a.is_value() || Py_TYPE(self) != array_type) return Py_NewRef(Py_TYPE(self));
    const DType t = a.dtype();
    if (PyTypeObject* type = scalar_type(t)) return Py_NewRef(reinterpret_cast<PyObject*>(type));
    static PyObject* classes[3] = {};
    constexpr const char* names[3][2] = {{"unisono.ComplexScalar", "Complex"},
                                         {"unisono.RealScalar", "Real"},
                                         {"unisono.IntegralScalar", "Integral"}};
    const int kind = is_complex(t) ? 0 : is_float(t) ? 1 : 2;
    if (!classes[kind]) classes[kind] = class_of_values(names[kind][0], names[kind][1]);
    return Py_XNewRef(classes[kind]);
}

bool covers_its_memory(const Array& a) {
    const View& v = a.view();
    return a.size() == v.storage->bytes / size_of(v.dtype) && v.layout->contiguous();
}

/// None if the array owns its memory; else the array that does, or, where that exists no more, the
/// whole memory as a vector.
PyObject* get_base(PyObject* self, void*) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        const Array& a = used_array(self);
        const View& v = a.view();
        if (!v.storage || a.is_value()) Py_RETURN_NONE;
        const auto* first = static_cast<const PyArray*>(v.storage->first_object);
        const bool is_there = first && first != no_object();
        auto* object = reinterpret_cast<PyObject*>(const_cast<PyArray*>(first));
        if (is_there && object != self && covers_its_memory(first->array)) return Py_NewRef(object);
        if (covers_its_memory(a)) Py_RETURN_NONE;
        const std::int64_t shape[] = {v.storage->bytes / size_of(v.dtype)};
        Array all = Array::of({v.storage, Layout::contiguous(shape), 0, v.dtype});
        if (a.readonly()) all.set_readonly();
        return wrap_array(all);
    });
}

}  // namespace

/// The parts: views of a complex array; of a real one, itself and zeros that cannot be written.
template <bool imaginary>
static PyObject* get_part(PyObject* self, void*) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        const Array& a = used_array(self);
        note_line();
        if (is_complex(a.dtype())) return wrap(part_view(a, imaginary));
        if (!imaginary) return a.is_value() ? wrap(a) : Py_NewRef(self);
        Scalar zero{0, a.dtype()};
        if (a.is_value()) return wrap(Array::known(zero));
        Array zeros = full(a.shape(), zero, a.device());
        zeros.set_readonly();
        return wrap(zeros);
    });
}

template <bool imaginary>
static int set_part(PyObject* self, PyObject* value, void*) noexcept {
    return guarded(-1, [&] {
        const Array& a = used_array(self);
        if (!value) {
            PyErr_SetString(PyExc_AttributeError,
                            imaginary ? "imag: cannot be deleted" : "real: cannot be deleted");
            throw PythonError{};
        }
        if (imaginary && !is_complex(a.dtype())) {
            fail(ErrorKind::Type, "imag: the array has no imaginary part to set; got dtype " +
                                      std::string(name(a.dtype())));
        }
        Arg arg;
        Array keep;
        if (!operand(value, arg, keep)) {
            keep = to_array(value, true);
            arg = keep.arg();
        }
        note_line();
        assign(is_complex(a.dtype()) ? part_view(a, imaginary) : a, arg);
        return 0;
    });
}

/// The integer `get` gives for an integer value; arrays have no such attribute, as NumPy's do not.
template <const char* const& name, PyObject* (*get)(PyObject*)>
PyObject* get_of_integer(PyObject* self, void*) noexcept {
    const Array& a = array_of(self);
    if (a.is_value() && is_integer(a.dtype())) return get(self);
    PyErr_Format(PyExc_AttributeError, "'unisono.ndarray' object has no attribute '%s'", name);
    return nullptr;
}
constexpr const char *numerator = "numerator", *denominator = "denominator";
PyObject* one(PyObject*) { return PyLong_FromLong(1); }

PyGetSetDef array_attributes[] = {
    {"real", get_part<false>, set_part<false>, "Real parts: a view.", nullptr},
    {"imag", get_part<true>, set_part<true>, "Imaginary parts: a view; zeros of a real array.",
     nullptr},
    {"shape", get_shape, set_shape,
     "Extent of each axis; may be set where the strides allow a view of the new shape.", nullptr},
    {"strides", get_strides, nullptr, "Bytes from one element to the next along each axis.",
     nullptr},
    {"numerator", get_of_integer<numerator, PyNumber_Index>, nullptr,
     "Of an integer value: itself.", nullptr},
    {"denominator", get_of_integer<denominator, one>, nullptr, "Of an integer value: 1.", nullptr},
    {"ndim", get_ndim, nullptr, "Number of axes.", nullptr},
    {"size", get_size, nullptr, "Number of elements.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
    {"dtype", get_dtype, nullptr, "Element type.", nullptr},
    {"device", get_device, nullptr, "Device that holds the elements.", nullptr},
    {"memory", get_memory, nullptr,
     "Kind of memory: \"device\", \"host\", \"pinned\" or \"shared\".", nullptr},
    {"base", get_base, nullptr,
     "None if the array owns its memory; for a view, the array that does, or, where that exists no "
     "more, the whole memory as a vector.",
     nullptr},
    {"__class__", get_class, nullptr, nullptr, nullptr},
    {"T", get_transposed, nullptr, "View with reversed axes.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace unisono::python
