// The distinct elements of an array.
#pragma once

#include "tape/array.h"

namespace unisono::library {

struct Unique {
    Array values;   ///< in rising order
    Array index;    ///< where each occurs first
    Array inverse;  ///< for each element of the input (1-d) the place of its value
    Array counts;   ///< how often each occurs
};

/// Of all elements in row-major order; computed before the call returns, since its shapes depend on
/// data. `places`: index, inverse and counts too. Without `equal_nan` each NaN is a value of its
/// own.
Unique unique(const Array& a, bool places, bool equal_nan);

}  // namespace unisono::library
