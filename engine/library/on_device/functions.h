// Functions that algorithms take as arguments.
#pragma once

#include "ops/ops.h"

namespace unisono::library {

/// Of two elements of a scan or reduction in that dtype.
const char* combining_function(Op op, DType t);

}  // namespace unisono::library
