// Pass over LLVM IR: branches where a loop updates a record, see record_branches.cpp.
#pragma once

#include <llvm/IR/PassManager.h>

namespace unisono::codegen {

/// Runs after the vectoriser, on the selections that it left.
struct RecordBranches : llvm::PassInfoMixin<RecordBranches> {
    llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace unisono::codegen
