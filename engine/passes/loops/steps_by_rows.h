// Pass: a serial loop whose steps work on columns, `for k: c[:, :, k] = f(c[:, :, k - 1])`, takes a
// few rows through all steps before it goes on to the next rows.
//
// A step that goes along the last axis touches a line of memory per row for one element of it, and
// the lines have left the caches when the next step wants their next elements. Where what the steps
// store is read in the same row only, the rows are independent of each other: the loop over strips
// of rows goes outside, and each line of memory comes once.
//
// The tests that the steps make (bounds, shapes, overlaps) are made for all steps in front of the
// loop, with those that rows stay apart; where one fails, the loop runs as it was, with its faults.
// Every element is computed as before, from the same operands. Steps that carry numbers from one to
// the next, or decide by elements, stay as they are. Requires indices per axis (runs before
// rows_together and lower_access).
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void steps_by_rows(ir::Module& module);

}  // namespace unisono::passes
