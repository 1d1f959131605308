// Pass over LLVM IR: makes the vector stores of streaming loops non-temporal, see streaming.cpp.
#pragma once

#include <llvm/IR/PassManager.h>

namespace unisono::codegen {

/// Of functions with a streaming loop.
inline constexpr const char* streams_attribute = "unisono-streams";

struct MarkStreaming : llvm::PassInfoMixin<MarkStreaming> {
    llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace unisono::codegen
