// Constants with which functions that kernels call shape arrays of the group and of the work-item.
#pragma once

#include <vector>

#include "frontend/syntax/tree.h"

namespace unisono::frontend {

/// Where the callee shapes such arrays by parameters, the constants given for them become part of
/// the arguments' types (Type::name): there is an instance for each.
void keep_shapes(const Source& callee, const std::vector<Value>& values, std::vector<Type>& types);

}  // namespace unisono::frontend
