// Records assignments.
#include <string>

#include "core/error.h"
#include "tape/record/dtype_rules.h"
#include "tape/record/operands.h"
#include "tape/record/record.h"
#include "tape/tape.h"
#include "tape/windows.h"

namespace unisono {

static void check_destination(bool is_readonly) {
    if (!is_readonly) return;
    fail(ErrorKind::Value,
         "assignment: the destination is read-only; make a copy with .copy() and write into that");
}

/// The operand that assigns `value` to `out`: a scalar of its dtype, or a view of its shape.
static View assigned_operand(const Arg& value, const View& out) {
    if (value.is_scalar()) {
        check_weak("assignment", value, out.dtype);
        check_weak_float(value, out.dtype);
        return scalar_as(value, out.dtype);
    }
    if (value.weak == Weak::Complex && !is_complex(out.dtype)) {
        fail(ErrorKind::Type, "assignment: a complex number does not fit dtype " +
                                  std::string(name(out.dtype)) + "; assign its .real");
    }
    Device* device = out.storage->device;
    if (value.view.storage->device != device)
        mixed_devices("assignment", device, value.view.storage->device);
    View v = value.view;
    // NumPy drops leading axes of extent 1 of the value.
    while (v.layout->rank() > out.layout->rank() && v.layout->shape()[0] == 1) {
        v.layout = Layout::make(v.layout->shape().subspan(1), v.layout->strides().subspan(1));
    }
    Dims shapes[] = {v.layout->shape(), out.layout->shape()};
    if (v.layout->packed() != out.layout->packed() &&
        Layout::contiguous(broadcast_shapes("assignment", shapes)) != out.layout->packed()) {
        fail(ErrorKind::Value, "assignment: could not broadcast the value from shape " +
                                   shape_text(shapes[0]) + " into shape " + shape_text(shapes[1]));
    }
    return broadcast_view(v, out.layout->packed());
}

/// On the mesh of a rank alone: both become the host's arrays, but where they must be planned.
static void take_local(View& out, Arg& value) {
    View to, from;
    if (!windows_alone(out.storage->device) || !view_here(out, to)) return;
    if (!value.is_scalar()) {
        if (value.view.storage->device != out.storage->device || !view_here(value.view, from))
            return;
        value.view = from;
    }
    check_destination(to.storage->readonly);
    out = to;
}

static void assign_near(const View& out, const Arg& value) {
    // Python's a[i:] += b ends by assigning the view to itself.
    if (!value.is_scalar() && value.view.same_as(out)) return;
    Entry e{};
    e.kind = EntryKind::Copy;
    e.inputs = 1;
    e.compute = out.dtype;
    e.out = out;
    e.in[0] = assigned_operand(value, out);
    Tape& tape = Tape::of(out.storage->device);
    if (out.layout->size() == 0 || tape.run_eagerly(e)) return;
    Array keep;
    e.in[0] = snapshot_if_overlapping(e.in[0], out, keep);
    tape.record(e);
}

/// To a view on a device.
[[gnu::noinline]] static void assign_far(View out, const Arg& given) {
    Array near;
    Arg value = beside(given, out.storage->device, near);
    take_local(out, value);
    assign_near(out, value);
}

void assign(const Array& target, const Arg& given) {
    check_destination(target.readonly());
    const View& out = target.view();
    if (out.storage->device) [[unlikely]]
        return assign_far(out, given);
    assign_near(out, given);
}

void assign_where(const Array& target, const Arg& given_mask, const Arg& given) {
    check_destination(target.readonly());
    const View& out = target.view();
    Array near[2];
    const Arg value = beside(given, out.storage->device, near[0]);
    const Arg mask = beside(given_mask, out.storage->device, near[1]);
    Entry e{};
    e.kind = EntryKind::Select;
    e.inputs = 3;
    e.compute = out.dtype;
    e.out = out;
    e.in[0] = mask.is_scalar() ? scalar_as(mask, DType::Bool) : assigned_operand(mask, out);
    e.in[1] = assigned_operand(value, out);
    e.in[2] = out;
    Tape& tape = Tape::of(target);
    if (out.layout->size() == 0 || tape.run_eagerly(e)) return;
    Array keep[2];
    for (int k = 0; k < 2; ++k) e.in[k] = snapshot_if_overlapping(e.in[k], out, keep[k]);
    tape.record(e);
}

}  // namespace unisono
