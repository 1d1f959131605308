// Records reductions, one entry per axis.
#include <algorithm>

#include "core/error.h"
#include "core/limits.h"
#include "tape/record/float_errors.h"
#include "tape/record/operands.h"
#include "tape/record/record.h"
#include "tape/tape.h"
#include "tape/windows.h"

namespace unisono {

/// The function that users call.
static std::string reduction_name(Op op) {
    switch (op) {
        case Op::Add: return "sum";
        case Op::Mul: return "prod";
        case Op::Min: return "min";
        case Op::Max: return "max";
        case Op::And: return "all";
        case Op::Or: return "any";
        default: return std::string(info(op).numpy_name);
    }
}

namespace {

/// The axes that are reduced, from the front.
struct Axes {
    int axis[max_rank];
    int count = 0;
};

Axes reduced_axes(Op op, const Array& a, const std::optional<std::vector<int>>& given) {
    Axes axes;
    if (!given) {
        for (int k = 0; k < a.rank(); ++k) axes.axis[axes.count++] = k;
        return axes;
    }
    for (int axis : *given) {
        // NumPy's reductions of a 0-d array take the axes 0 and -1.
        if (a.rank() == 0 && (axis == 0 || axis == -1)) continue;
        int k = axis < 0 ? axis + a.rank() : axis;
        if (k < 0 || k >= a.rank()) {
            fail(ErrorKind::Index, reduction_name(op) + ": axis " + std::to_string(axis) +
                                       " is out of bounds for an array of dimension " +
                                       std::to_string(a.rank()));
        }
        if (std::find(axes.axis, axes.axis + axes.count, k) != axes.axis + axes.count) {
            fail(ErrorKind::Value,
                 reduction_name(op) + ": axis " + std::to_string(k) + " is given twice");
        }
        axes.axis[axes.count++] = k;
    }
    std::sort(axes.axis, axes.axis + axes.count);
    return axes;
}

/// The layout without some neighbouring axes, of which `axis` is the last.
const Layout* without_axes(const Layout& l, int axis, int before) {
    std::int64_t shape[max_rank];
    auto gap = std::copy_n(l.shape().begin(), axis - before, shape);
    std::copy(l.shape().begin() + axis + 1, l.shape().end(), gap);
    return Layout::contiguous({shape, static_cast<std::size_t>(l.rank() - 1 - before)});
}

Array reduce_axes(Op op, const Array& a, int axis, int before, DType t, bool value) {
    Entry e;
    e.kind = EntryKind::Reduce;
    e.op = op;
    e.axis = static_cast<std::int8_t>(axis);
    e.before = static_cast<std::int8_t>(before);
    e.compute = t;
    e.inputs = 1;
    e.in[0] = a.view();
    e.out = fresh_view(without_axes(*a.view().layout, axis, before), t, a.device());
    Array made = Array::of(e.out, value && e.out.layout->rank() == 0);
    Tape& tape = Tape::of(a);
    if (tape.windows()) [[unlikely]] {
        tape.record(e);
        return shared_value(std::move(made));
    }
    if (before > 0 || a.view().layout->size() > limits::eager_points || !tape.run_eagerly(e)) {
        tape.record(e);
    } else if (made.is_value() && !is_complex(t)) {
        return Array::known(item(made));
    }
    return made;
}

/// On the mesh of a rank alone: the same of the host's array; false where it must be planned.
bool reduce_alone(Op op, const Array& a, const std::optional<std::vector<int>>& axes, bool keepdims,
                  std::optional<DType> dtype, Array& made) {
    Windows* windows = windows_alone(a.device());
    View local;
    if (!windows || a.rank() == 0 || !view_here(a.view(), local)) return false;
    made = reduce(op, Array::of(local), axes, keepdims, dtype);
    if (!made.is_value()) made = windows->adopted(made, a.view());
    return true;
}

}  // namespace

Array reduce(Op op, const Array& a, std::optional<std::vector<int>> given, bool keepdims,
             std::optional<DType> dtype) {
    if (float_errors::is_checked()) [[unlikely]] {
        float_errors::Unchecked guard;
        Array made = reduce(op, a, given, keepdims, dtype);
        float_errors::check_reduction(a, made);
        return made;
    }
    if (Array made; a.device() && reduce_alone(op, a, given, keepdims, dtype, made)) [[unlikely]]
        return made;
    const Axes axes = reduced_axes(op, a, given);
    bool selects = op == Op::Min || op == Op::Max || op == Op::Fmin || op == Op::Fmax;
    DType t = reduced_dtype(op, a.dtype(), dtype);
    if (a.is_known()) return astype(a, t, false);
    // In float32 to the end, then rounded once.
    if (is_half(t)) return astype(reduce(op, a, given, keepdims, DType::Float32), t, false);
    for (int k = 0; k < axes.count; ++k) {
        if (selects && a.shape()[static_cast<std::size_t>(axes.axis[k])] == 0) {
            fail(ErrorKind::Value, reduction_name(op) + ": an empty axis has no " +
                                       (op == Op::Min || op == Op::Fmin ? "minimum" : "maximum") +
                                       "; got shape " + shape_text(a.shape()));
        }
    }
    Array current = axes.count == 0 ? astype(a, t, true) : a;
    for (int k = axes.count; k-- > 0;) {
        int before = 0, axis = axes.axis[k];
        // Neighbours in front of the last axis go together.
        if (axis + 1 < current.rank() && current.view().layout->size() > limits::eager_points) {
            for (; k > 0 && axes.axis[k - 1] == axes.axis[k] - 1; --k) ++before;
        }
        current = reduce_axes(op, current, axis, before, t, !keepdims);
    }
    if (a.rank() == 0) return to_value(current);
    if (!keepdims) return current;
    std::vector<std::int64_t> shape(a.shape().begin(), a.shape().end());
    for (int k = 0; k < axes.count; ++k) shape[static_cast<std::size_t>(axes.axis[k])] = 1;
    return reshape(current, shape);
}

}  // namespace unisono
