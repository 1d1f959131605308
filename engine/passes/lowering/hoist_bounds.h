// Pass: takes index tests out of loops.
// Accesses that are always in range become Inside. A loop nest whose other Checked and Wrapped
// accesses are affine in its loop variables gets one test in front: if all of them stay in range
// for the whole nest, a fast version runs in which they are Inside, else the version as it was,
// which faults at the same iteration as Python would, with all stores before it done. A nest is
// duplicated at most once, at the outermost loop at which all that can be known is known. Requires
// that expressions are evaluated unconditionally. Conditions around an access (if i < n) count in
// its favour. From the same knowledge, a % n becomes a, a - n or a + n where it is one of these,
// and the test whether n is 0 goes where it is not.
#pragma once

#include "ir/build.h"

namespace unisono::passes {

/// Without may_duplicate only accesses that need no test change: device kernels are not written
/// twice.
void hoist_bounds(ir::Module& module, bool may_duplicate = true);

}  // namespace unisono::passes
