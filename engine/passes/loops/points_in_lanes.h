// Pass: a loop over points, each of which takes its own number of steps, takes points in lanes.
//
// In `for i: z = c[i]; while n < 50 and abs(z) < 2: z = z * z + c[i]; ...; out[i] = n` a step waits
// for the one before it, and the end of each point's steps is not foreseen. Sixteen points step
// together, as long as any of them goes on; those that are done keep their values. Each point has
// the values of its own steps, bit for bit.
//
// Loops that hold one while loop, of arithmetic on numbers, and whose iterations are independent,
// or do not meet as a test in front of the loop shows; functions that are called there become part
// of the loop. The points that are left go one by one.
//
// Requires linear accesses (lower_access).
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void points_in_lanes(ir::Module& module);

}  // namespace unisono::passes
