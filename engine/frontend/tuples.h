// Tuples whose items a loop visits.
#pragma once

#include "frontend/types.h"

namespace unisono::frontend {

/// Whether an index that is known only when the program runs can choose an item.
bool has_one_type(const Type& tuple);

}  // namespace unisono::frontend
