// Sums of vectors in order, see ordered_sums.cpp.
#pragma once

#include <llvm/IR/Module.h>

namespace unisono::codegen {

/// Lets sums that add a vector's elements one after the other read them from memory.
/// Runs after the vectoriser, and after what would take the memory away again.
void add_from_memory(llvm::Module& module);

}  // namespace unisono::codegen
