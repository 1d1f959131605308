// Pass: turns the parallel loops of a function into device kernels, one work-item per iteration.
//
// Contract. The entry, unless it is already a kernel, becomes one kernel per parallel loop nest and
// per run of serial statements between them (functions with a non-empty grid; the first replaces
// the entry), and a host program, which launches them: loops, branches and returns around parallel
// loops are its control. Up to three perfectly nested loops become axes of the grid, the innermost
// being axis 0; more are folded into axis 2. Serial code between them becomes kernels of one
// work-item. Local scalars that are computed from parameters are computed again in each kernel;
// those of the host program are further parameters of the kernels; others are kept in memory
// between kernels, where the host program reads what its control needs. Kernels of one launch run
// in the order in which they are launched; after one that faults no later one runs. Tables are
// those of the entry: parameters, arrays and variables keep their numbers. A global array without a
// parameter is the same memory in all kernels. The entry's results are given by the host program,
// or by the kernel that it launched last.
#pragma once

#include <memory>
#include <vector>

#include "ir/ir.h"

namespace unisono::passes {

/// What launches the kernels of a module. A Call names a function of the module that is a kernel,
/// and passes nothing: kernels have the tables of the host program. A Load is of a global array
/// without a parameter. A Return without results, where the function has some, leaves them to the
/// kernel that ran before.
struct HostProgram {
    ir::Function function;
    /// A variable, and the scalar parameter by which kernels get its value.
    struct Passed {
        std::int32_t var, param;
    };
    std::vector<Passed> passed;          ///< these parameters are the last ones
    int range_axes = 0;                  ///< of the launch: hidden parameters before those
    bool has_loops = false;              ///< kernels may be launched more than once
    std::vector<ir::Line> serial_loops;  ///< of kernels of one work-item
    /// A call of one of the function's natives that is given arrays.
    struct NativeCall {
        ir::Line line;
        std::int32_t native;
    };
    std::vector<NativeCall> natives;
};

/// With a run_length above 1 a work-item takes that many iterations of the innermost loop, unless
/// it may fault; with pack_bytes above 0 neighbouring elements of that many bytes (in_packs). Null
/// where the module's entry is a kernel. `range_axes`: see cut_at_grid_barriers.
std::shared_ptr<const HostProgram> map_to_grid(ir::Module& module, std::int64_t run_length = 1,
                                               std::int64_t pack_bytes = 0, int range_axes = 0);

}  // namespace unisono::passes
