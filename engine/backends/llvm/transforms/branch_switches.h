// Pass over LLVM IR: switches of few cases become branches again.
//
// simplifycfg makes a switch of `x == 3 or (x == 2 and y)`, which keeps the loop around it from
// running on vectors; branches become masks there.
#pragma once

#include <llvm/IR/PassManager.h>

namespace unisono::codegen {

struct BranchSwitches : llvm::PassInfoMixin<BranchSwitches> {
    llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace unisono::codegen
