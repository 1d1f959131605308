// Kernels in which some work-items of a group would miss a barrier.
#pragma once

#include <memory>

#include "frontend/syntax/tree.h"

namespace unisono::frontend {

/// The kernel whose barriers all work-items reach, which does the same; null where none is known.
/// `counts`: where some work-items of a group would have missed one, it raises an exception.
std::shared_ptr<const Source> all_reach_barriers(const Source& kernel, bool counts);

}  // namespace unisono::frontend
