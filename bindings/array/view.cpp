#include "array/view.h"

#include "array/object.h"

namespace unisono::python {

bool view_of_array(PyObject* object, ArrayView& view) {
    if (!is_array(object)) return false;
    const Array& a = array_of(object);
    if (a.is_known() || a.is_value()) return false;
    if (is_elsewhere(object)) refuse_owner("array: it", reinterpret_cast<PyArray*>(object)->owner);
    view.storage = a.view().storage;
    view.device = view.storage->addressable() ? nullptr : view.storage->device;
    view.offset = a.view().offset * size_of(a.dtype());
    view.dtype = a.dtype();
    view.shape = a.shape();
    view.strides = a.strides();
    view.writable = !a.readonly();
    return true;
}

}  // namespace unisono::python
