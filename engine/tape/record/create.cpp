// New arrays: empty, filled, counted, copied and converted.
#include "ops/scalar_eval.h"
#include "tape/record/float_errors.h"
#include "tape/record/operands.h"
#include "tape/record/record.h"
#include "tape/tape.h"
#include "tape/windows.h"

namespace unisono {

Array empty(Dims shape, DType t, Device* device) {
    return Array::of(fresh_view(Layout::contiguous(shape), t, device));
}

Array full(Dims shape, Scalar value, Device* device) {
    Array a = empty(shape, value.dtype, device);
    if (a.size() == 0) return a;
    Entry e{};
    e.kind = EntryKind::Copy;
    e.inputs = 1;
    e.compute = value.dtype;
    e.in[0] = scalar_operand(value);
    e.out = a.view();
    Tape::of(device).append(e);
    return a;
}

Array borrow(void* data, const Layout* layout, DType dtype, bool readonly, void* owner,
             void (*release)(void*)) {
    // The storage covers all elements; a negative stride reaches below the first one.
    const std::int64_t below = -layout->lowest(), bytes = size_of(dtype);
    Storage* s = Storage::create(nullptr, (layout->highest() + below + 1) * bytes);
    s->memory = {
        reinterpret_cast<std::uintptr_t>(data) - static_cast<std::uintptr_t>(below * bytes),
        s->bytes};
    s->borrowed = true;
    s->readonly = readonly;
    s->owner = owner;
    s->release_owner = release;
    return Array::of({s, layout, below, dtype});
}

Array iota(std::int64_t n, Device* device) {
    std::int64_t shape[] = {n};
    Array a = empty(shape, DType::Int64, device);
    if (n == 0) return a;
    Entry e{};
    e.kind = EntryKind::Iota;
    e.compute = DType::Int64;
    e.out = a.view();
    Tape::of(device).append(e);
    return a;
}

/// On the mesh of a rank alone: the array as one of the host's; null where it must be planned.
static Windows* source_alone(const Array& a, View& local) {
    Windows* windows = windows_alone(a.device());
    if (!windows || a.rank() == 0 || a.size() == 0 || !view_here(a.view(), local)) return nullptr;
    return windows;
}

Array astype(const Array& a, DType t, bool copy_if_same) {
    if (a.dtype() == t && !copy_if_same) return a;
    if (a.dtype() != t && float_errors::is_checked()) [[unlikely]] {
        float_errors::Unchecked guard;
        Array made = astype(a, t, copy_if_same);
        float_errors::check_cast(a, made);
        return made;
    }
    if (a.is_known() && !is_complex(t)) return Array::known(cast(a.scalar(), t));
    if (a.device()) {
        View local;
        Windows* windows = source_alone(a, local);
        if (windows && a.size() <= limits::eager_points) {
            ResultAlone made(*windows, local.layout->packed(), t, a.view());
            assign(Array::of(made.here), {local});
            return std::move(made.array);
        }
        if (windows) return windows->adopted(astype(Array::of(local), t, true), a.view());
    }
    Entry e{};
    e.kind = EntryKind::Copy;
    e.inputs = 1;
    e.compute = t;
    e.in[0] = a.is_known() ? scalar_operand(a.scalar()) : a.view();
    e.out = fresh_view(a.view().layout->packed(), t, a.device());
    Array made = Array::of(e.out, a.is_value());
    if (a.size() > 0) Tape::of(a).append(e);
    return made;
}

Array copy(const Array& a) { return astype(a, a.dtype(), true); }

}  // namespace unisono
