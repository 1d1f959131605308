// From a lowered module to code in memory: kernels in use, the disk cache, the LLVM plugin.
#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/cpu/loader.h"
#include "ir/ir.h"

namespace unisono::cpu {

/// Machine code of a lowered module, or of one of its deferred functions. `streaming` selects the
/// variant whose marked stores bypass the caches. Where the options ask for a callback, the code's
/// entry is that one.
std::shared_ptr<LoadedCode> machine_code(const ir::Module& module, bool streaming,
                                         const CompileOptions& options, int function = -1);

}  // namespace unisono::cpu
