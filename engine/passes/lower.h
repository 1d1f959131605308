// The pipeline from IR as it is built to IR that a target emits; lower.cpp is the one list of
// passes.
#pragma once

#include <memory>
#include <vector>

#include "ir/ir.h"
#include "passes/analysis/intervals/interval_program.h"
#include "passes/kernels/map_to_grid.h"

namespace unisono::passes {

enum class TargetKind : std::uint8_t {
    Host,    ///< parallel loops stay; the executor outlines them (cpu, interp)
    Device,  ///< one work-item per iteration: parallel loops become work-item ids (opencl, cuda)
};

struct Target {
    TargetKind kind = TargetKind::Host;
    bool streaming_stores = false;     ///< the executor has non-temporal stores
    bool splits_cold = false;          ///< the executor compiles deferred functions when called
    bool keep_checks_visible = false;  ///< interp: checks every access itself
    bool has_float64 = true;           ///< without it mathematical functions are left to the device
    /// Device: iterations of an innermost parallel loop per work-item. 1 where neighbouring
    /// work-items run in lockstep; CPUs gain from runs, which they vectorise.
    std::int64_t run_length = 1;
    /// Device: bytes that a work-item loads or stores at once, where neighbouring work-items run in
    /// lockstep; 0: an element.
    std::int64_t pack_bytes = 0;
    /// Device: where set, the version of a kernel for launches that the program passes; null where
    /// it is the same (prove_accesses).
    std::unique_ptr<const IntervalProgram>* proof = nullptr;
};

/// What executors may rely on afterwards:
/// - Every access is linear (with keep_checks_visible: Inside, an index per axis); index tests are
///   statements.
/// - Numbers are real: complex arrays are accessed by parts.
/// - No loop declares reductions. Global arrays without a parameter (partials of reductions) are
/// made by Allocate in the
///   function's body, before any independent loop that uses them, with constant extents, and end
///   with their scope.
/// - Host: no kernels. A kernel becomes an ordinary function with 3 * dimensions hidden int64
/// scalars after its own
///   parameters: global_size.k, local_size.k, global_offset.k for k = 0, 1, ... (host_range_scalars
///   in backends/host/range.h makes them). Its body is one Group loop over all work-groups, in
///   which Item loops run the work-items of a group; Local arrays are allocated in the Group loop,
///   their extents may depend on local sizes. Group loops are executed as Parallel loops, Item
///   loops as Vector loops.
/// - Mathematical functions that are our own are expanded, but for interp and for devices without
///   float64. On the host the long forms of angles (sin_long...) stay.
/// - Fault sites were added; Fault::site counts them function after function (all_sites).
/// Line::file is meant in the
///   table of the entry: all functions of a module have the same files.
/// Returns what launches the kernels of a device (map_to_grid); null where that is the user, or the
/// target a host.
std::shared_ptr<const HostProgram> lower(ir::Module& module, const Target& target);

/// The sites of all functions, one function after the other: what Executable::sites gives.
std::vector<ir::FaultSite> all_sites(const ir::Module& module);
/// Where the sites of each function begin in all_sites.
std::vector<std::int32_t> first_sites(const ir::Module& module);

}  // namespace unisono::passes
