// Pass: a serial loop around a sum of columns runs several sums at a time, in lanes.
//
// In `for j: s = 0; for k: s = s + a[k] * b[k, j]; c[j] = s` the elements that neighbouring
// iterations of j read lie side by side, those that one sum reads do not. Where a test in front of
// the loop shows that no iteration of j touches what another one stores, its iterations go in
// groups of lanes: the loop over k outside, an innermost vector loop over the lanes. Each sum adds
// its terms in the order of k, in both versions: a loop marked `any order` loses the mark.
//
// Requires linear accesses (lower_access). Faults stay where they were: the test covers them too.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void sums_in_lanes(ir::Module& module);

}  // namespace unisono::passes
