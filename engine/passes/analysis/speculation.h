// What may be computed for iterations of a loop that the loop may never come to.
#pragma once

#include <optional>
#include <vector>

#include "ir/ir.h"

namespace unisono::passes {

/// Whether control never gets past the end of the statements.
bool is_final(std::span<const ir::S> list);

/// What processors and our own functions compute for vectors, and garbage cannot make trap.
bool is_computed(ir::E e);

/// Whether it calls a mathematical function.
bool has_function(ir::E e);

/// Whether a condition compares floats only: no index is in range because of it.
bool compares_floats(ir::E e);

/// The variables of the function around that the loop changes, where all of them are sums, to which
/// one statement adds and which nothing else reads.
std::optional<std::vector<std::int32_t>> sums_of(ir::S loop);

}  // namespace unisono::passes
