// Pass: a row whose elements are updated by preceding elements of the row, and by columns, is
// computed in strips.
//
// In `for j: for k in range(i + 1, j): t[i, j] = max(t[i, j], t[i, k] + t[k + 1, j])`, and in
// `for j: for k in range(j): a[i, j] -= a[i, k] * a[k, j]`, an element depends on all elements
// before it, and reads a column. But neighbouring elements can accumulate the terms up to the first
// of them in the lanes of a vector, from parts of rows; only the remaining terms are
// accumulated one element after the other, each in a variable. A test before the loop
// shows that the row overlaps nothing else that is read.
//
// Each element accumulates its terms in the original order. Statements before the inner
// loop may also update the element, if the operation is an associative one on integers;
// statements after it may use the element freely. Loops that may fault are left unchanged.
//
// Requires linear accesses (lower_access).
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void updates_in_strips(ir::Module& module);

}  // namespace unisono::passes
