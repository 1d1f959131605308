// Pieces of local arrays: views that several files of this room take.
#pragma once

#include <vector>

#include "comm/ranges.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono::comm {

/// The indices `range` of one axis.
inline Array slice(const Array& a, int axis, Range range) {
    std::vector<IndexItem> items(static_cast<std::size_t>(axis), {IndexItem::Kind::Slice});
    items.push_back({IndexItem::Kind::Slice, range.begin, range.end, 1, true, true});
    return index(a, items);
}

inline Array rows_of(const Array& a, Range range) { return slice(a, 0, range); }

/// The axis moved to the front.
inline Array axis_first(const Array& a, int axis) {
    std::vector<int> axes{axis};
    for (int k = 0; k < a.rank(); ++k) {
        if (k != axis) axes.push_back(k);
    }
    return transpose(a, axes);
}

/// The first axis moved back there.
inline Array axis_back(const Array& a, int axis) {
    std::vector<int> axes;
    for (int k = 1; k < a.rank(); ++k) axes.push_back(k);
    axes.insert(axes.begin() + axis, 0);
    return transpose(a, axes);
}

inline Array plus(const Array& a, std::int64_t b) {
    const Arg sum[] = {a.arg(), Arg{scalar_operand(Scalar::of(DType::Int64, b))}};
    return apply(Op::Add, sum);
}

}  // namespace unisono::comm
