// Conversions of scalars from floats to integers on x86, see scalar_conversions.cpp.
#pragma once

#include <llvm/IR/Module.h>

namespace unisono::codegen {

/// Makes a conversion that gives the lowest integer outside of the range one instruction.
/// Runs after the vectoriser, which knows nothing of that instruction.
void use_truncating_conversions(llvm::Module& module);

}  // namespace unisono::codegen
