// Products of one vector with the windows of another.
#pragma once

#include "tape/array.h"

namespace unisono::library {

/// Up to so many terms an element's sum has their order.
constexpr std::int64_t few_terms = 32;

/// out[i] = sum of a[i - lead + k] v[k] over those k for which both exist, i < count. a and v:
/// vectors of float32 or of float64.
Array slide(const Array& a, const Array& v, std::int64_t lead, std::int64_t count);

}  // namespace unisono::library
