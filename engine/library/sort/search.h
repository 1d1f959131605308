// Binary search in sorted arrays.
#pragma once

#include "tape/array.h"

namespace unisono::library {

/// For each of `values` the place in the 1-d sorted array where it goes: before equal elements, or
/// after them with `right`. Both have one dtype. int64, in the shape of `values`.
Array search_sorted(const Array& sorted, const Array& values, bool right);

}  // namespace unisono::library
