// Pass: the first and last iterations of an innermost loop, in which its conditions differ from
// those of all others, become loops of their own.
//
// In `out[j] = u[j] - u[j - 1]` over all j the first neighbour counts from the end, and in periodic
// or clamped stencils so does the last: a selection for each element, which vectors would have to
// gather. What is left between the ends has no such conditions. Of comparisons of the loop's
// variable, give or take a number, and of its minima and maxima, those that change within a few
// iterations of an end count. Serial and vector loops without break; the order of iterations stays.
//
// Requires linear accesses (lower_access). What has become constant is left to simplify. Returns
// whether it changed anything.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

bool index_set_splitting(ir::Module& module);

}  // namespace unisono::passes
