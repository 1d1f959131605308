// Tuples whose items a loop visits.
#pragma once

#include "frontend/types.h"

namespace unisono::frontend {

/// Whether an index that is known only when the program runs selects an item without a branch.
bool has_one_type(const Type& tuple);

/// Whether its items are arrays that one variable can hold.
bool has_arrays_alike(const Type& tuple);

}  // namespace unisono::frontend
