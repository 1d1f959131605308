// Takes the buffers of objects, staging arrays that are not packed host memory.
#include "mpi/buffers.h"

#include "array/exchange/adopt.h"
#include "array/exchange/buffer_format.h"
#include "array/object.h"
#include "reference.h"

namespace nb = nanobind;

namespace unisono::python {

nb::handle kept_of(PyObject*& place, const char* module, const char* name) {
    const nb::handle found = kept(place, module, name);
    if (!found.is_valid()) throw nb::python_error();
    return found;
}

namespace {

/// A packed host array of the same elements.
nb::object staged(nb::handle array) {
    static PyObject* known = nullptr;
    return kept_of(known, "unisono.mpi._buffers.staging", "stage")(array);
}

/// NumPy's view of an array of records that lies packed on the host; None of others.
nb::object seen(nb::handle records) {
    static PyObject* known = nullptr;
    return kept_of(known, "unisono.mpi._buffers.staging", "seen")(records);
}

/// The memory that a list of a buffer, a count and a type means; None where it is none.
nb::object specified(nb::handle spec, bool writable) {
    static PyObject* known = nullptr;
    return kept_of(known, "unisono.mpi._buffers.datatypes", "specified")(spec, writable);
}

/// An array on the memory of another library's.
nb::object shared(nb::handle array) {
    static PyObject* known = nullptr;
    return kept_of(known, "unisono.mpi._buffers.datatypes", "shared")(array);
}

/// Memory that knows a protocol of arrays, but not Python's of buffers.
bool is_foreign(nb::handle object) {
    return !PyObject_CheckBuffer(object.ptr()) &&
           (nb::hasattr(object, "__dlpack__") || nb::hasattr(object, "__cuda_array_interface__"));
}

}  // namespace

Buffer::Buffer(nb::handle object, bool writable, const char* call) {
    int flags = PyBUF_ANY_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    nb::handle taken = object;
    nb::object given;
    if (PyTuple_Check(object.ptr()) || PyList_Check(object.ptr()) || object.is_none()) {
        given_ = nb::borrow(object);
        given = specified(object, writable);
        if (!given.is_none()) taken = object = given;
    }
    if (!PyObject_CheckBuffer(taken.ptr()) && nb::hasattr(taken, "room")) {
        target_ = nb::borrow(taken);  // elements that lie apart
        staged_ = taken.attr("room");
        taken = staged_;
    }
    if (is_foreign(taken)) {
        if (!given_.is_valid()) given_ = nb::borrow(taken);
        given = shared(taken);
        taken = object = given;
    }
    if (has_buffer_of_array(object.ptr())) {
        nb::object view = seen(object);
        if (view.is_none()) {
            target_ = nb::borrow(object);
            view = staged(object);
        }
        staged_ = std::move(view);
        taken = staged_;
    } else if (is_array(object.ptr())) {
        const Array& a = used_array(object.ptr());
        if (writable && a.readonly()) {
            PyErr_Format(PyExc_BufferError, "%s: the array is read-only; receive into a copy",
                         call);
            throw nb::python_error();
        }
        const bool packed =
            a.is_known() || (a.view().layout->contiguous() && a.view().storage->addressable());
        if (!packed) {
            target_ = nb::borrow(object);
            staged_ = staged(object);
            taken = staged_;
        }
    }
    if (PyObject_GetBuffer(taken.ptr(), &view_, flags) == 0) {
        held_ = true;
        if (!writable) target_.reset();
        return;
    }
    if (!PyObject_CheckBuffer(taken.ptr())) {
        PyErr_Format(
            PyExc_TypeError,
            "%s: no memory to %s; got %.200s; expected an array or another object with the "
            "buffer protocol; lower-case functions take any object",
            call, writable ? "receive into" : "send", Py_TYPE(taken.ptr())->tp_name);
    }
    throw nb::python_error();
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
    if (this == &other) return *this;
    release();
    view_ = other.view_;
    held_ = std::exchange(other.held_, false);
    target_ = std::move(other.target_);
    staged_ = std::move(other.staged_);
    given_ = std::move(other.given_);
    return *this;
}

void Buffer::release() noexcept {
    if (std::exchange(held_, false)) PyBuffer_Release(&view_);
}

DType Buffer::dtype() const {
    DType t{};
    return dtype_of_format(view_.format, view_.itemsize, t) ? t : DType::UInt8;
}

void Buffer::deliver() {
    release();
    if (!target_.is_valid()) return;
    static PyObject* known = nullptr;
    kept_of(known, "unisono.mpi._buffers.staging", "assign")(target_, staged_);
    target_.reset();
    staged_.reset();
}

}  // namespace unisono::python
