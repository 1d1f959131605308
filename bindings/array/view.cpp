// How compiled functions and kernels see arrays: pending work done, then the memory where it lies,
// without a copy.
#include "array/view.h"

#include "array/object.h"
#include "tape/tape.h"

namespace unisono::python {

/// Values stay with the buffer protocol: they are scalars on the host.
static bool view_of_array(PyObject* object, ArrayView& view) {
    if (!is_array(object) || array_of(object).is_known() || array_of(object).is_value())
        return false;
    const Array& a = array_of(object);
    Storage* s = a.view().storage;
    if (a.readonly()) {
        Tape::current().complete(s, FlushReason::Device);
    } else {
        // It may be written: operations that read the old contents come first.
        Tape::current().complete_for_write(s, FlushReason::Device);
        ++s->version;
    }
    s->allocate();
    view.device = s->on_host() ? nullptr : s->device;
    view.memory = s->memory;
    view.offset = a.view().offset * size_of(a.dtype());
    view.dtype = a.dtype();
    view.shape = a.shape();
    view.strides = a.strides();
    view.writable = !a.readonly();
    return true;
}

void install_array_view() { array_view_hook = view_of_array; }

}  // namespace unisono::python
