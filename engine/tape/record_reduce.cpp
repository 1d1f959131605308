// Records reductions, one entry per axis.
#include <algorithm>

#include "core/error.h"
#include "tape/operands.h"
#include "tape/record.h"
#include "tape/tape.h"

namespace unisono {

static std::string numpy_name(Op op) { return std::string(info(op).numpy_name); }

static std::vector<int> reduced_axes(Op op, const Array& a,
                                     const std::optional<std::vector<int>>& given) {
    std::vector<int> axes;
    if (!given) {
        for (int k = 0; k < a.rank(); ++k) axes.push_back(k);
        return axes;
    }
    for (int axis : *given) {
        // NumPy's reductions of a 0-d array take the axes 0 and -1.
        if (a.rank() == 0 && (axis == 0 || axis == -1)) continue;
        int k = axis < 0 ? axis + a.rank() : axis;
        if (k < 0 || k >= a.rank()) {
            fail(ErrorKind::Index, numpy_name(op) + ": axis " + std::to_string(axis) +
                                       " is out of bounds for an array of dimension " +
                                       std::to_string(a.rank()));
        }
        if (std::find(axes.begin(), axes.end(), k) != axes.end()) {
            fail(ErrorKind::Value,
                 numpy_name(op) + ": axis " + std::to_string(k) + " is given twice");
        }
        axes.push_back(k);
    }
    std::sort(axes.begin(), axes.end());
    return axes;
}

Array reduce(Op op, const Array& a, std::optional<std::vector<int>> given, bool keepdims,
             std::optional<DType> dtype) {
    std::vector<int> axes = reduced_axes(op, a, given);
    bool selects = op == Op::Min || op == Op::Max;
    DType t = reduced_dtype(op, a.dtype(), dtype);
    if (a.is_known()) return astype(a, t, false);
    for (int axis : axes) {
        if (selects && a.shape()[static_cast<std::size_t>(axis)] == 0) {
            fail(ErrorKind::Value, numpy_name(op) + ": an empty axis has no " +
                                       (op == Op::Min ? "minimum" : "maximum") + "; got shape " +
                                       shape_text(a.shape()));
        }
    }
    Array current = axes.empty() ? astype(a, t, true) : a;
    for (std::size_t k = axes.size(); k-- > 0;) {
        std::vector<std::int64_t> shape(current.shape().begin(), current.shape().end());
        shape.erase(shape.begin() + axes[k]);
        Entry e{};
        e.kind = EntryKind::Reduce;
        e.op = op;
        e.axis = static_cast<std::int8_t>(axes[k]);
        e.compute = t;
        e.inputs = 1;
        e.in[0] = current.view();
        e.out = fresh_view(Layout::contiguous(shape), t, a.device());
        Array next = Array::of(e.out, shape.empty() && !keepdims);
        Tape::instance().append(e);
        current = std::move(next);
    }
    if (a.rank() == 0) return to_value(current);
    if (!keepdims) return current;
    std::vector<std::int64_t> shape(a.shape().begin(), a.shape().end());
    for (int axis : axes) shape[static_cast<std::size_t>(axis)] = 1;
    return reshape(current, shape);
}

}  // namespace unisono
