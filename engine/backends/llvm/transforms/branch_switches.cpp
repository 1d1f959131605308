// Compares with one case after the other; what is left goes where it went.
#include "backends/llvm/transforms/branch_switches.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <utility>

namespace unisono::codegen {

namespace {

constexpr unsigned most_cases = 3;

void branch(llvm::SwitchInst* s) {
    llvm::BasicBlock* from = s->getParent();
    // What comes along the edges, which leave other blocks now.
    std::vector<std::pair<llvm::PHINode*, llvm::Value*>> values;
    llvm::SmallPtrSet<llvm::BasicBlock*, 4> targets;
    for (llvm::BasicBlock* target : llvm::successors(from)) {
        if (!targets.insert(target).second) continue;
        for (llvm::PHINode& phi : target->phis()) {
            values.emplace_back(&phi, phi.getIncomingValueForBlock(from));
            while (phi.getBasicBlockIndex(from) >= 0) phi.removeIncomingValue(from, false);
        }
    }
    auto edge = [&](llvm::BasicBlock* block, llvm::BasicBlock* target) {
        for (auto [phi, value] : values) {
            if (phi->getParent() == target) phi->addIncoming(value, block);
        }
        return target;
    };
    llvm::IRBuilder<> b(s);
    llvm::BasicBlock* here = from;
    unsigned left = s->getNumCases();
    for (auto& c : s->cases()) {
        llvm::BasicBlock* next =
            --left == 0 ? edge(here, s->getDefaultDest())
                        : llvm::BasicBlock::Create(b.getContext(), "case", from->getParent(),
                                                   from->getNextNode());
        llvm::Value* is_case = b.CreateICmpEQ(s->getCondition(), c.getCaseValue());
        b.CreateCondBr(is_case, edge(here, c.getCaseSuccessor()), next);
        here = next;
        if (left != 0) b.SetInsertPoint(here);
    }
    s->eraseFromParent();
}

}  // namespace

llvm::PreservedAnalyses BranchSwitches::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
    std::vector<llvm::SwitchInst*> found;
    for (llvm::BasicBlock& block : f) {
        auto* s = llvm::dyn_cast<llvm::SwitchInst>(block.getTerminator());
        if (s && s->getNumCases() >= 1 && s->getNumCases() <= most_cases) found.push_back(s);
    }
    for (llvm::SwitchInst* s : found) branch(s);
    return found.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace unisono::codegen
