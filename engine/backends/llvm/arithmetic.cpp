// How much arithmetic an element of a loop takes, and how much of it is a dependence chain.
#include "backends/llvm/arithmetic.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <algorithm>

namespace unisono::codegen {

namespace {

int count_operations(const llvm::BasicBlock& block) {
    return static_cast<int>(llvm::count_if(block, [](const llvm::Instruction& i) {
        return i.getType()->isFloatingPointTy() && !llvm::isa<llvm::LoadInst>(i);
    }));
}

/// The longest chain of floating-point operations in the block, each of which needs the one before.
int longest_chain(const llvm::BasicBlock& block) {
    llvm::DenseMap<const llvm::Value*, int> length;
    int longest = 0;
    for (const llvm::Instruction& i : block) {
        if (llvm::isa<llvm::PHINode>(i)) continue;
        int before = 0;
        for (const llvm::Value* operand : i.operands()) {
            auto found = length.find(operand);
            if (found != length.end()) before = std::max(before, found->second);
        }
        int mine = before + (i.getType()->isFloatingPointTy() && !llvm::isa<llvm::LoadInst>(i));
        length[&i] = mine;
        longest = std::max(longest, mine);
    }
    return longest;
}

}  // namespace

bool is_heavy(const llvm::Function& f) {
    int operations = 0;
    for (const llvm::BasicBlock& block : f) operations += count_operations(block);
    return operations > 60;
}

llvm::PreservedAnalyses InterleaveChains::run(llvm::Function& f,
                                              llvm::FunctionAnalysisManager& analyses) {
    // With half the registers two chains would not fit.
    if (f.getFnAttribute("prefer-vector-width").getValueAsString() != "512")
        return llvm::PreservedAnalyses::all();
    auto is_chain = [](const llvm::BasicBlock* block) {
        int operations = count_operations(*block);
        return operations > 50 && 8 * longest_chain(*block) > 3 * operations;
    };
    for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(f).getLoopsInPreorder()) {
        if (loop->isInnermost() && llvm::any_of(loop->blocks(), is_chain))
            llvm::addStringMetadataToLoop(loop, "llvm.loop.interleave.count", 2);
    }
    return llvm::PreservedAnalyses::all();
}

}  // namespace unisono::codegen
