// Selections between scalars on processors with AVX-512, see scalar_selects.cpp.
#pragma once

#include <llvm/IR/Module.h>

namespace unisono::codegen {

/// Gives each selection between scalars a comparison of its own, where the code may use AVX-512.
/// Runs after all other passes, which would merge the comparisons.
void separate_comparisons(llvm::Module& module);

}  // namespace unisono::codegen
