// Properties of loops that follow from their arithmetic alone.
#pragma once

#include <llvm/IR/PassManager.h>

namespace unisono::codegen {

/// Whether an element costs more arithmetic than memory traffic: mathematical functions are in it.
bool is_heavy(const llvm::Function& f);

/// Has the vectoriser take two vectors at a time where an element is one long chain of arithmetic
/// (a power): processors look ahead over some hundred instructions only, and would wait for its
/// end.
struct InterleaveChains : llvm::PassInfoMixin<InterleaveChains> {
    llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace unisono::codegen
