// Pass: a serial loop around sums or updates of columns runs several at a time, in lanes.
//
// In `for j: c[j] = np.dot(a, b[:, j])`, which is a loop `any order` over k that adds a[k] * b[k,
// j], the elements that neighbouring iterations of j read lie side by side, those that one sum
// reads do not. Where a test in front of the loop shows that no iteration of j touches what another
// one stores, its iterations go in groups of lanes: the loop over k outside, an innermost vector
// loop over the lanes. Each sum adds its terms in the order of k, with or without lanes. Other sums
// and statements on columns (`b[:, j] -= c[j] * a`) beside it run in the same lanes, row by row.
// Sums that a program writes as loops stay as they are: with lanes they take twice as long to
// compile.
//
// Around it, `for i: for j: b[i, j] += np.dot(a[i + 1:, i], b[i + 1:, j])` may keep to column j in
// all rows. Then threads take pieces of the columns, each through all rows, where a test of each
// row in front shows that its sums may run in lanes.
//
// Requires linear accesses (lower_access). Faults stay where they were: the test covers them too.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void sums_in_lanes(ir::Module& module);

}  // namespace unisono::passes
