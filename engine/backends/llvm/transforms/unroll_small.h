// Pass over LLVM IR: unrolls small innermost loops that stay scalar, see unroll_small.cpp.
#pragma once

#include <llvm/IR/PassManager.h>

namespace unisono::codegen {

/// Runs after the vectoriser, which unrolls what it makes by itself.
struct UnrollSmall : llvm::PassInfoMixin<UnrollSmall> {
    llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace unisono::codegen
