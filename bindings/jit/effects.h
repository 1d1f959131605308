// What a launch of a compiled function may do, read from its IR before the passes.
#pragma once

#include "ir/ir.h"

namespace unisono::python {

/// Whether a launch may take long: a kernel, or anything that repeats or waits.
bool may_take_long(const ir::Module& module);

/// Whether a launch may ask whether the user wants to stop.
bool may_poll(const ir::Module& module);

/// Whether objects that a launch makes may hold arrays that it was given.
bool may_keep_arguments(const ir::Module& module);

/// Whether a launch may make texts, dicts or sets.
bool may_make_objects(const ir::Module& module);

}  // namespace unisono::python
