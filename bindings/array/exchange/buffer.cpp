// The buffer protocol: what np.asarray and memoryview use. While a buffer is out, operations on its
// memory complete before they return.
#include "array/object.h"
#include "tape/tape.h"

namespace unisono::python {

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
    view->obj = nullptr;
    return guarded(-1, [&] {
        const Array& a = used_array(self);
        bool writable = (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE;
        if (writable && a.readonly()) {
            PyErr_SetString(
                PyExc_BufferError,
                "buffer: the array is read-only; ask for a read-only buffer, or copy it");
            return -1;
        }
        bool contiguous = a.view().layout->contiguous();
        if (!contiguous && (flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
            PyErr_SetString(PyExc_BufferError,
                            "buffer: the array is not contiguous; use .copy() first");
            return -1;
        }
        if (a.is_known()) {
            view->buf =
                const_cast<std::int64_t*>(&a.view().offset);  // a value's bits lie in its object
        } else {
            view->buf = host_data(a, !a.readonly());
            ++a.view().storage->exports;
        }
        auto item_size = static_cast<Py_ssize_t>(size_of(a.dtype()));
        auto rank = static_cast<std::size_t>(a.rank());
        auto* strides = new Py_ssize_t[rank + 1];
        for (std::size_t k = 0; k < rank; ++k)
            strides[k] = static_cast<Py_ssize_t>(a.strides()[k]) * item_size;
        view->internal = strides;
        view->obj = Py_NewRef(self);
        view->len = static_cast<Py_ssize_t>(a.size()) * item_size;
        view->itemsize = item_size;
        view->readonly = a.readonly();
        view->ndim = a.rank();
        view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(info(a.dtype()).format) : nullptr;
        static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));
        view->shape =
            (flags & PyBUF_ND)
                ? reinterpret_cast<Py_ssize_t*>(const_cast<std::int64_t*>(a.shape().data()))
                : nullptr;
        view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? strides : nullptr;
        view->suboffsets = nullptr;
        return 0;
    });
}

void release_buffer(PyObject* self, Py_buffer* view) noexcept {
    delete[] static_cast<Py_ssize_t*>(view->internal);
    const Array& a = array_of(self);
    if (!a.is_known()) {
        --a.view().storage->exports;
        ++a.view().storage->version;  // the holder may have written
    }
}

}  // namespace unisono::python
