// Pass: a row whose elements are updated by what lies before them in the row, and by columns, is
// computed in strips.
//
// In `for j: for k in range(i + 1, j): t[i, j] = max(t[i, j], t[i, k] + t[k + 1, j])`, and in
// `for j: for k in range(j): a[i, j] -= a[i, k] * a[k, j]`, an element waits for all elements
// before it, and reads a column. But neighbouring elements may take the terms up to the first of
// them side by side, in the lanes of a vector, from parts of rows; only the terms behind that are
// taken one element after the other, each of which is held in a variable meanwhile. A test in front
// shows that the row meets nothing else that is read.
//
// Each element takes its terms in the order in which they were. Statements in front of the inner
// loop may update the element, too, where the operation is one on integers whose order cannot be
// seen; those behind it may do with it what they want. Loops that may fault stay as they are.
//
// Requires linear accesses (lower_access).
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void updates_in_strips(ir::Module& module);

}  // namespace unisono::passes
