// Side effects of the functions of a C text, and whether a call is short.
#pragma once

#include "backends/codegen/c_text.h"

namespace llvm {
class Module;
}

namespace unisono::codegen {

/// Sets is_pure and is_short of each function.
void find_effects(const llvm::Module& module, CResult& result);

}  // namespace unisono::codegen
