// Whether a function has a barrier.
#pragma once

#include <string_view>

#include "frontend/syntax/tree.h"

namespace unisono::frontend {

/// Whether the name is the word of a barrier: of the group, or of a launch that is one group.
inline bool names_barrier(std::string_view name) {
    return name == "un.barrier" || name == "un.grid_barrier";
}

/// Whether the function, or one that it calls, has a barrier.
bool reaches_barrier(const Source& source);

}  // namespace unisono::frontend
