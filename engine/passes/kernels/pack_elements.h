// Work-items that take several neighbouring elements of an innermost parallel loop at once.
//
// Where all arrays that a loop walks through lie side by side along it, a pack of iterations is
// copied statement by statement, so that the accesses of one statement follow each other: the code
// generator makes one wide access of them, since a branch around tests the addresses and strides.
// The widest dtype decides how many elements a pack has. Where that test fails (a window at an odd
// offset) a work-item of a long row takes elements that lie a warp apart, so that each access of a
// warp is to neighbours and indices are computed once; in a short row it takes one. The same tests
// decide the number of work-items when the kernel is launched.
#pragma once

#include "ir/build.h"

namespace unisono::passes {

/// for x in range(n) as a loop over work-items that take up to `bytes` of each array they access;
/// the loop itself where that does not pay, or where an iteration does more than compute elements.
ir::S in_packs(ir::Function& f, ir::S loop, std::int64_t bytes);

}  // namespace unisono::passes
