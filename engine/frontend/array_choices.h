// Kernels in which a name stands for one of several arrays.
#pragma once

#include <memory>
#include <vector>

#include "frontend/syntax/tree.h"
#include "frontend/types.h"

namespace unisono::frontend {

/// The kernel in which each such name is one array on each path; null where it has none.
std::shared_ptr<const Source> split_array_choices(const Source& kernel,
                                                  const std::vector<Type>& args);

}  // namespace unisono::frontend
