// Whether a function has a barrier, and what differs between the work-items of a group.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "frontend/syntax/tree.h"

namespace unisono::frontend {

/// Whether the name is that of a barrier whose argument says whether a work-item would have come.
inline bool counts_arrivals(std::string_view name) {
    return name == "counted:un.barrier" || name == "counted:un.grid_barrier";
}

/// Whether the name is the word of a barrier: of the group, or of a launch that is one group.
inline bool names_barrier(std::string_view name) {
    return name == "un.barrier" || name == "un.grid_barrier" || counts_arrivals(name);
}

/// Whether the function, or one that it calls, has a barrier.
bool reaches_barrier(const Source& source);

/// What may differ between the work-items of a group: names, and expressions of them.
struct Divergence {
    std::set<std::string> names;
    bool of(const Node& expression) const;
};
Divergence divergence_of(const Source& source);

/// Whether a barrier of the kernel is in control flow that may differ.
bool misses_barrier(const Source& source);

}  // namespace unisono::frontend
