// Examples of each primitive, over dtypes and shapes: what tests of the table run.
#pragma once

#include <optional>
#include <vector>

#include "primitives/primitives.h"
#include "tape/array.h"

namespace unisono::domains {

template <class Attributes>
struct Example {
    Attributes attributes;
    std::vector<Array> operands;
    Array target;  ///< that rows which write into parts of memory take; else without memory
};
template <class Attributes>
using Examples = std::vector<Example<Attributes>>;

/// A row without a domain does not compile: each has a function here.
#define UNISONO_PRIMITIVE(id, Attributes, ...) Examples<primitives::Attributes> id();
#include "primitives/primitives.def"
#undef UNISONO_PRIMITIVE

}  // namespace unisono::domains
