// Splits a function into pieces, each of which becomes a device kernel (map_to_grid), and a host
// program that launches them.
//
// How it works. What stands around parallel loops (serial loops, branches, returns) becomes control
// of the host program; parallel loops become pieces of many work-items, other statements pieces of
// one. A walk in program order knows where each scalar's value is (Home): an expression of
// parameters, which every kernel can compute again; a variable of the host program, which kernels
// get as a further parameter; or memory of one element on the device, which the kernel that
// computes the value fills. Control that needs a value from the device reads it. Where paths meet
// with a value in different homes the walk is repeated with one home for that variable.
#pragma once

#include <map>
#include <vector>

#include "ir/ir.h"

namespace unisono::passes {

/// Where the value of a variable is when a piece starts.
struct Home {
    enum class Kind : std::uint8_t {
        Unset,   ///< it has none yet
        Known,   ///< `value`, an expression of the function's own parameters
        Host,    ///< a variable of the host program
        Device,  ///< kept in memory (KernelSplit::kept)
    };
    Kind kind = Kind::Unset;
    ir::E value = nullptr;
};
/// Of the variables that have one.
using Homes = std::map<std::int32_t, Home>;

struct KernelPiece {
    std::vector<ir::S> nest;    ///< loops that become axes, outermost first; empty: serial
    std::vector<ir::S> serial;  ///< statements of a serial piece
    Homes homes;                ///< when the piece starts
    /// Whether it returns the function's results.
    bool returns = false;
};

struct KernelSplit {
    std::vector<KernelPiece> pieces;
    std::vector<ir::S> scratch;  ///< Allocate statements of arrays that kernels share
    /// Variables that a kernel computes and another one, or the host, uses: the array that keeps
    /// each.
    std::map<std::int32_t, std::int32_t> kept;
    /// Parameters that bring variables of the host program to kernels.
    std::map<std::int32_t, std::int32_t> host_params;
    /// Of the host program. A Call names a piece; a load is of an array of `kept`; a Return without
    /// the results that the function has leaves them to the kernel that ran before.
    std::vector<ir::S> host;
};

/// Throws Unsupported, naming the line, where a function cannot be split. Adds variables, arrays
/// and parameters to f's tables.
KernelSplit split_kernels(ir::Function& f);

/// Variables that statements use but do not declare.
std::vector<std::int32_t> free_variables(std::span<const ir::S> statements);

}  // namespace unisono::passes
