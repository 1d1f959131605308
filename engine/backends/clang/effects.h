// What the functions of a C text do beside giving a result, and whether a call is over at once.
#pragma once

#include "backends/codegen/c_text.h"

namespace llvm {
class Module;
}

namespace unisono::codegen {

/// Sets is_pure and is_short of each function.
void find_effects(const llvm::Module& module, CResult& result);

}  // namespace unisono::codegen
