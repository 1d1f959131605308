// From a lowered module to code in memory: kernels in use, the disk cache, the LLVM plugin.
#pragma once

#include <memory>

#include "backends/cpu/loader.h"
#include "ir/ir.h"

namespace unisono::cpu {

/// Machine code of a lowered module. `streaming` selects the variant whose marked stores bypass the
/// caches.
std::shared_ptr<LoadedCode> machine_code(const ir::Module& module, bool streaming, bool use_cache);

}  // namespace unisono::cpu
