// Pass: makes every access linear and every index test explicit.
// Checked and Wrapped accesses become tests before the statement that holds them, in Python's order
// of evaluation (value before target), each with an IndexError site; then all indices are combined
// by strides: Access::Linear. Requires that expressions are evaluated unconditionally. A while
// whose condition needs tests becomes `while true: ... if not condition: break`. Every fault site
// of an index carries the index and the extent.
#pragma once

#include "ir/build.h"

namespace unisono::passes {

void lower_access(ir::Module& module, bool keep_axes = false);

}  // namespace unisono::passes
