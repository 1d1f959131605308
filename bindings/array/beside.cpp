// Moves lists and other libraries' arrays to the device of the arrays beside them.
#include "array/beside.h"

#include "array/object.h"

namespace unisono::python {

namespace {

/// Of an array of ours that the host cannot address, else null.
Device* far_device(const View& v) {
    return v.storage && !v.storage->addressable() ? v.storage->device : nullptr;
}

bool is_near(const View& v) { return v.storage && v.storage->addressable(); }

}  // namespace

void bring_beside(const Array& a, PyObject* given, Array& made) {
    if (is_array(given) || made.is_known() || made.device() == a.device()) return;
    if (!a.is_known() && !a.view().storage->addressable()) made = to_device(made, a.device());
}

void bring_together(PyObject* const* given, std::span<Arg> made, std::span<Array> keep) {
    Device* device = nullptr;
    bool has_ours = false;
    for (std::size_t k = 0; k < made.size() && !device; ++k) {
        device = far_device(made[k].view);
        has_ours = has_ours || is_array(given[k]);
    }
    if (!device && !has_ours) device = default_device();
    if (!device || device->info().host_memory) return;
    for (std::size_t k = 0; k < made.size(); ++k) {
        if (is_array(given[k]) || !is_near(made[k].view)) continue;
        keep[k] = to_device(Array::of(made[k].view), device);
        made[k].view = keep[k].view();
    }
}

void bring_together(PyObject* const* given, std::span<Array> made) {
    const Array* far = nullptr;
    for (std::size_t k = 0; k < made.size() && !far; ++k) {
        if (!made[k].is_known() && far_device(made[k].view())) far = &made[k];
    }
    if (!far) return;
    const Array beside = *far;  // the elements change
    for (std::size_t k = 0; k < made.size(); ++k) bring_beside(beside, given[k], made[k]);
}

}  // namespace unisono::python
