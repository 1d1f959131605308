// Splits the top level of a function into pieces, each of which becomes a device kernel
// (map_to_grid).
//
// How it works. The top level is walked with what is known of each of its scalars: its value as an
// expression of parameters, which every kernel can compute again, or that it is computed on the
// device and kept in memory of one element between kernels (KernelSplit::kept). Branches become
// guards: of parameters (the host leaves the kernel out) or of a kept bool (its work-items do
// nothing).
#pragma once

#include <map>
#include <vector>

#include "ir/ir.h"

namespace unisono::passes {

struct KernelPiece {
    std::vector<ir::S> nest;       ///< loops that become axes, outermost first; empty: serial
    std::vector<ir::S> serial;     ///< statements of a serial piece
    ir::E guard = nullptr;         ///< of parameters; null: always
    ir::E device_guard = nullptr;  ///< of kept variables; null: always
    /// Scalars of the top level when the piece starts: expressions of parameters, or null where
    /// only the device knows the value.
    std::map<std::int32_t, ir::E> values;
    std::vector<std::int32_t> unset;  ///< variables declared before without a value
};

struct KernelSplit {
    std::vector<KernelPiece> pieces;
    std::vector<ir::S> scratch;  ///< Allocate statements of arrays that kernels share
    /// Variables that one kernel computes and a later one uses: the array that keeps each.
    std::map<std::int32_t, std::int32_t> kept;
};

/// Throws Unsupported, naming the line, where a function cannot be split. Adds variables and arrays
/// to f's tables.
KernelSplit split_kernels(ir::Function& f);

/// Variables that statements use but do not declare.
std::vector<std::int32_t> free_variables(std::span<const ir::S> statements);

}  // namespace unisono::passes
