// The memory that kernels declare in their own text, as drivers tell it of compiled ones.
#pragma once

#include <cstdint>

#include "ir/ir.h"

namespace unisono::ir {

/// Bytes of arrays whose extents are constants.
struct KernelMemory {
    std::int64_t group = 0;  ///< of those that a work-group shares
    std::int64_t item = 0;   ///< of those that each work-item has
};

KernelMemory kernel_memory(const Module& module);

}  // namespace unisono::ir
