// Interprets kernel IR on host memory: the reference of differential tests, which trusts nothing.
//
// It takes lowered modules (Target Host): no kernels, no declared reductions. Every access is
// checked, also those that claim to be inside; variables and allocated memory must be written
// before they are read; iterations of independent loops must not touch what another one writes. A
// broken rule is an Error that names array, index and line.
#pragma once

#include <span>

#include "backends/backend.h"
#include "ir/ir.h"

namespace unisono::interp {

/// Runs the entry. Scalars are those of the lowered entry, hidden ones included.
Fault interpret(const ir::Module& module, std::span<const ArrayArg> arrays,
                std::span<const std::uint64_t> scalars, std::span<std::uint64_t> results);

}  // namespace unisono::interp
