// Indices of 32 bits as ones of 64, of which compilers know that they do not wrap.
#pragma once

#include <functional>

#include "ir/build.h"

namespace unisono::passes {

/// Whether the index is a negative number of an access that counts it from the end.
bool counts_from_end(ir::E index, ir::Access access);

/// The index, an int64, with conversions and arithmetic of 32 bits replaced by that of 64, which
/// has the same result where none of those loses bits: `needs` is called for each, with the
/// operands and, of a conversion, its type.
ir::E wide_index(ir::Builder& b, ir::E index, const std::function<void(ir::E)>& needs);

}  // namespace unisono::passes
