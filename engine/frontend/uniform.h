// Whether a function has a barrier.
#pragma once

#include "frontend/syntax/tree.h"

namespace unisono::frontend {

/// Whether the function, or one that it calls, has a barrier.
bool reaches_barrier(const Source& source);

}  // namespace unisono::frontend
