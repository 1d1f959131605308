// Attributes of the array type.
#include "array/object.h"
#include "array/shape.h"

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
    return guarded<PyObject*>(nullptr, [&] { return device_object(array_of(self).device()); });
}
PyObject* get_transposed(PyObject* self, void*) {
    return guarded<PyObject*>(nullptr, [&] { return wrap(transpose(array_of(self))); });
}

}  // namespace

/// The parts: views of a complex array; of a real one, itself and zeros that cannot be written.
template <bool imaginary>
static PyObject* get_part(PyObject* self, void*) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        const Array& a = array_of(self);
        if (is_complex(a.dtype())) return wrap(part_view(a, imaginary));
        if (!imaginary) return Py_NewRef(self);
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
        const Array& a = array_of(self);
        if (!value || (imaginary && !is_complex(a.dtype()))) {
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

PyGetSetDef array_attributes[] = {
    {"real", get_part<false>, set_part<false>, "Real parts: a view.", nullptr},
    {"imag", get_part<true>, set_part<true>, "Imaginary parts: a view; zeros of a real array.",
     nullptr},
    {"shape", get_shape, set_shape,
     "Extent of each axis; may be set where the strides allow a view of the new shape.", nullptr},
    {"strides", get_strides, nullptr, "Bytes from one element to the next along each axis.",
     nullptr},
    {"ndim", get_ndim, nullptr, "Number of axes.", nullptr},
    {"size", get_size, nullptr, "Number of elements.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
    {"dtype", get_dtype, nullptr, "Element type.", nullptr},
    {"device", get_device, nullptr, "Where the elements live.", nullptr},
    {"T", get_transposed, nullptr, "View with reversed axes.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace unisono::python
