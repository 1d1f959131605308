// Runs several iterations of a small loop between two branches back.
//
// Processors take one branch in a cycle, and increment and compare for each iteration. Where the
// body is short (`count[x[i]] += 1`) that is a third of the time. LLVM's own pass takes as long as
// the rest of the list and also unrolls what does not gain: long bodies, and loops that wait for
// chains of operations, in which the code generator then makes branches of selections.
#include "backends/llvm/transforms/unroll_small.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

namespace unisono::codegen {

namespace {

// Instructions of a body of which four iterations stand together, and of one of which two do.
constexpr unsigned short_body = 32;
constexpr unsigned longest_body = 48;
constexpr unsigned most_blocks = 12;
constexpr unsigned most_iterations = 4;

/// A value that each iteration computes from that of the previous one, by more than one operation
/// of a cycle: its chain takes longer than a branch.
bool is_chain(const llvm::PHINode& phi, const llvm::BasicBlock* latch) {
    const llvm::Value* next = phi.getIncomingValueForBlock(latch);
    if (llvm::isa<llvm::LoadInst>(next)) return false;
    const auto* step = llvm::dyn_cast<llvm::BinaryOperator>(next);
    if (!step || !llvm::is_contained(step->operands(), &phi)) return true;
    return step->getOpcode() != llvm::Instruction::Add &&
           step->getOpcode() != llvm::Instruction::Sub && !step->isBitwiseLogicOp();
}

/// The iterations between two branches back.
unsigned iterations(const llvm::Loop& loop) {
    const llvm::BasicBlock* latch = loop.getLoopLatch();
    if (!latch || loop.getNumBlocks() > most_blocks || !loop.isLoopExiting(latch)) return 1;
    if (llvm::getBooleanLoopAttribute(&loop, "llvm.loop.isvectorized") ||
        llvm::getBooleanLoopAttribute(&loop, "llvm.loop.unroll.runtime.disable") ||
        llvm::getBooleanLoopAttribute(&loop, "llvm.loop.unroll.full"))  // of few iterations
        return 1;
    if (llvm::any_of(loop.getHeader()->phis(),
                     [&](const llvm::PHINode& phi) { return is_chain(phi, latch); }))
        return 1;
    unsigned count = 0;
    for (const llvm::BasicBlock* block : loop.blocks()) {
        for (const llvm::Instruction& i : *block) {
            const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
            if ((call && !llvm::isa<llvm::IntrinsicInst>(call)) || i.isIntDivRem()) return 1;
            if (!i.isDebugOrPseudoInst() && ++count > longest_body) return 1;
        }
    }
    return count <= short_body ? most_iterations : 2;
}

}  // namespace

llvm::PreservedAnalyses UnrollSmall::run(llvm::Function& f,
                                         llvm::FunctionAnalysisManager& analyses) {
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(f);
    llvm::SmallVector<std::pair<llvm::Loop*, unsigned>> small;
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
        const unsigned count = loop->isInnermost() ? iterations(*loop) : 1;
        if (count > 1) small.emplace_back(loop, count);
    }
    if (small.empty()) return llvm::PreservedAnalyses::all();
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(f);
    auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(f);
    auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(f);
    auto& target = analyses.getResult<llvm::TargetIRAnalysis>(f);
    auto& remarks = analyses.getResult<llvm::OptimizationRemarkEmitterAnalysis>(f);
    bool changed = false;
    for (auto [loop, count] : small) {
        const unsigned most = evolution.getSmallConstantMaxTripCount(loop);
        if (most != 0 && most <= 4 * most_iterations) continue;
        changed |= llvm::simplifyLoop(loop, &dominators, &loops, &evolution, &assumptions, nullptr,
                                      /*PreserveLCSSA=*/false);
        changed |= llvm::formLCSSA(*loop, dominators, &loops, &evolution);
        llvm::UnrollLoopOptions options{};
        options.Count = count;
        options.Runtime = true;
        changed |= llvm::UnrollLoop(loop, options, &loops, &evolution, &dominators, &assumptions,
                                    &target, &remarks,
                                    /*PreserveLCSSA=*/true) != llvm::LoopUnrollResult::Unmodified;
    }
    if (!changed) return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses kept;
    kept.preserve<llvm::LoopAnalysis>();
    kept.preserve<llvm::DominatorTreeAnalysis>();
    kept.preserve<llvm::ScalarEvolutionAnalysis>();
    return kept;
}

}  // namespace unisono::codegen
