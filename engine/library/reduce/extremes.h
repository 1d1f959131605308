// Where the largest or smallest elements lie: argmax and argmin.
#pragma once

#include "tape/array.h"

namespace unisono::library {

/// The index (int64) along `axis` of the first largest (or smallest) element; of the first NaN,
/// where there is one. An empty axis is a Value error.
Array arg_extreme(const Array& a, int axis, bool largest);

}  // namespace unisono::library
