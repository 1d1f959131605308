// Pass: turns the parallel loops of a function into device kernels, one work-item per iteration.
//
// Contract. The entry, unless it is already a kernel, becomes one kernel per parallel loop nest of
// its top level, in program order (functions with a non-empty grid; the first replaces the entry).
// Up to three perfectly nested loops become axes of the grid, the innermost being axis 0; more are
// folded into axis 2. Serial code between them becomes kernels of one work-item. Local scalars that
// are computed from parameters are computed again in each kernel, others are kept in memory between
// kernels; conditions on parameters become empty grids, others a test in each work-item. Parallel
// loops inside serial loops, bounds that only the device knows, and returns that depend on data
// before a parallel loop are refused (Unsupported), naming the line. Kernels are
// launched in order of functions; after one that faults no later one runs. Tables are those of the
// entry: parameters, arrays and variables keep their numbers. A global array without a parameter is
// the same memory in all kernels. The entry's results are given by the last kernel, or by one of
// those that exclude each other.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

/// With a run_length above 1 a work-item takes that many iterations of the innermost loop, unless
/// it may fault.
void map_to_grid(ir::Module& module, std::int64_t run_length = 1);

}  // namespace unisono::passes
