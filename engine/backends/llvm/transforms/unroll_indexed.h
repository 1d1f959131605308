// Pass over LLVM IR: private arrays of kernels become registers where loops of few steps index
// them.
//
// A GPU has no registers with indices: an array that a loop indexes lies in memory unless the loop
// is unrolled.
#pragma once

#include <llvm/IR/PassManager.h>

namespace unisono::codegen {

struct UnrollIndexed : llvm::PassInfoMixin<UnrollIndexed> {
    llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace unisono::codegen
