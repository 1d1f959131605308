// Operations along one axis: the axis goes last, so that each lane lies in one piece.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "primitives/primitive.h"
#include "tape/record/record.h"

namespace unisono::library {

/// `axis` counted from the front; throws an Index error that names `what`.
inline int checked_axis(const std::string& what, int axis, int rank) {
    int k = axis < 0 ? axis + rank : axis;
    if (k < 0 || k >= rank) {
        fail(ErrorKind::Index, what + ": axis " + std::to_string(axis) +
                                   " is out of bounds for an array of dimension " +
                                   std::to_string(rank));
    }
    return k;
}

/// Which axis comes where when `axis` goes last.
inline std::vector<int> axis_last(int axis, int rank) {
    std::vector<int> order;
    for (int k = 0; k < rank; ++k) {
        if (k != axis) order.push_back(k);
    }
    order.push_back(axis);
    return order;
}

/// The array with `axis` last, in one piece.
inline Array lanes_of(const Array& a, int axis) {
    if (axis == a.rank() - 1) return packed(a);
    return packed(transpose(a, axis_last(axis, a.rank())));
}

/// A view of what has `axis` last with the axis back in its place.
inline Array axis_back(const Array& lanes, int axis) {
    if (axis == lanes.rank() - 1) return lanes;
    std::vector<int> order(static_cast<std::size_t>(lanes.rank()));
    for (int k = 0, from = 0; k < lanes.rank(); ++k) {
        order[static_cast<std::size_t>(k)] = k == axis ? lanes.rank() - 1 : from++;
    }
    return transpose(lanes, order);
}

/// Elements of one lane of such an array, at least 1.
inline std::int64_t lane_extent(const View& lanes) {
    Dims shape = lanes.layout->shape();
    return shape.empty() ? 1 : shape.back();
}

template <class T>
T* elements(const View& v) {
    return reinterpret_cast<T*>(v.data());
}

}  // namespace unisono::library
