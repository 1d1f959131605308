// How the elements of an array expression are computed; see elementwise.cpp.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "frontend/types.h"

namespace unisono::frontend {

struct Lazy {
    std::vector<ir::E> extents;
    std::vector<ir::E> equal;         ///< tests: extents that are the result's, not 1
    std::vector<std::int32_t> reads;  ///< arrays
    /// Those of `reads` that are read at other indices than the element's own.
    std::vector<std::int32_t> elsewhere;
    /// The element at an index; `repeats`: axes of extent 1 are repeated, whatever `equal` says.
    std::function<Value(std::span<const ir::E>, bool repeats)> element;
    bool by_elements = false;  ///< computed from elements and numbers alone, without statements
    bool is_field = false;     ///< numbers that are not aligned: a copy is not to be written
    bool waits = false;        ///< held by a name; see waiting.cpp
    /// Makes the view that the expression is, where it is one: a part of a complex array.
    std::function<Value()> view;
};

}  // namespace unisono::frontend
