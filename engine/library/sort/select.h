// Selection: the smallest or largest elements without sorting all.
#pragma once

#include <utility>

#include "tape/array.h"

namespace unisono::library {

/// Along `axis`, element `kth` (counted from the front, in range) is where sorting would put it,
/// what is smaller lies before it, what is larger behind it; values, or the int64 indices that
/// arrange so.
Array partition(const Array& a, int axis, std::int64_t kth, bool indices);

/// Values and int64 indices of the k largest (or smallest) elements along `axis`, the best first;
/// of equal ones the first comes first; NaN counts as the largest.
std::pair<Array, Array> top_k(const Array& a, int axis, std::int64_t k, bool largest);

}  // namespace unisono::library
