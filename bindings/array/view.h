// What a compiled function or kernel needs of an array object.
#pragma once

#include <span>

#include "array/object.h"

namespace unisono::python {

struct ArrayView {
    Storage* storage = nullptr;  ///< whose contents may be pending, and not yet have memory
    Device* device = nullptr;    ///< null: host memory
    std::int64_t offset = 0;     ///< bytes
    DType dtype = DType::Float64;
    std::span<const std::int64_t> shape, strides;  ///< strides in elements; the object's own
    bool writable = true;
};

/// Fills the view of an object of the array type; false for any other object, and for values, which
/// are scalars on the host. In place, since calls of compiled functions are counted in nanoseconds.
inline bool view_of_array(PyObject* object, ArrayView& view) {
    if (!is_array(object)) return false;
    const Array& a = array_of(object);
    if (a.is_known() || a.is_value()) return false;
    if (is_elsewhere(object)) [[unlikely]]
        refuse_owner("array: it", reinterpret_cast<PyArray*>(object)->owner);
    const View& v = a.view();
    view.storage = v.storage;
    view.device = v.storage->addressable() ? nullptr : v.storage->device;
    view.offset = v.offset * size_of(v.dtype);
    view.dtype = v.dtype;
    view.shape = a.shape();
    view.strides = a.strides();
    view.writable = !a.readonly();
    return true;
}

}  // namespace unisono::python
