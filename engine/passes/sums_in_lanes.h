// Pass: a serial loop around a sum of columns runs several sums at a time, in lanes.
//
// In `for j: c[j] = np.dot(a, b[:, j])`, which is a loop `any order` over k that adds a[k] * b[k,
// j], the elements that neighbouring iterations of j read lie side by side, those that one sum
// reads do not. Where a test in front of the loop shows that no iteration of j touches what another
// one stores, its iterations go in groups of lanes: the loop over k outside, an innermost vector
// loop over the lanes. Each sum adds its terms in the order of k, with or without lanes. Statements
// on columns behind the sum (`b[:, j] -= c[j] * a`) run in the same lanes, row by row. Sums that
// a program writes as loops stay as they are: with lanes they take twice as long to compile.
//
// Requires linear accesses (lower_access). Faults stay where they were: the test covers them too.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void sums_in_lanes(ir::Module& module);

}  // namespace unisono::passes
