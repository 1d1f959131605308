// What a launch of a compiled function may do, read from its IR before the passes.
#pragma once

#include <optional>

#include "ir/ir.h"

namespace unisono::python {

/// How deep the loops of a launch nest, which run over extents of its arguments or a few steps;
/// none where it may take longer: a kernel, or anything else that repeats or waits.
std::optional<int> depth_of_loops(const ir::Module& module);

/// Whether a launch may ask whether the user wants to stop.
bool may_poll(const ir::Module& module);

/// Whether objects that a launch makes may hold arrays that it was given.
bool may_keep_arguments(const ir::Module& module);

/// Whether a launch may make texts, dicts or sets.
bool may_make_objects(const ir::Module& module);

/// Whether a launch may print.
bool may_print(const ir::Module& module);

}  // namespace unisono::python
