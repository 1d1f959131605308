// Marks such loops for LLVM's own unrolling, runs it, and takes the arrays apart.
#include "backends/llvm/transforms/unroll_indexed.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace unisono::codegen {

namespace {

constexpr unsigned most_steps = 32;
/// More than the registers of a thread hold.
constexpr std::uint64_t most_bytes = 512;

bool is_small_array(const llvm::Value* pointer) {
    const auto* made = llvm::dyn_cast<llvm::AllocaInst>(pointer->stripPointerCasts());
    if (!made || !made->isStaticAlloca()) return false;
    const auto bytes = made->getAllocationSize(made->getDataLayout());
    return bytes && !bytes->isScalable() && bytes->getFixedValue() <= most_bytes;
}

/// Whether the loop's own index, or what follows from it, is one of a small array.
bool indexes_array(llvm::Loop* loop, llvm::ScalarEvolution& evolution) {
    for (llvm::BasicBlock* block : loop->blocks()) {
        for (llvm::Instruction& i : *block) {
            auto* at = llvm::dyn_cast<llvm::GetElementPtrInst>(&i);
            if (!at || !is_small_array(at->getPointerOperand())) continue;
            const llvm::SCEV* address = evolution.getSCEV(at);
            if (!evolution.isLoopInvariant(address, loop)) return true;
        }
    }
    return false;
}

void mark(llvm::Loop* loop) {
    llvm::LLVMContext& context = loop->getHeader()->getContext();
    llvm::MDNode* wanted =
        llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.full"));
    loop->setLoopID(llvm::makePostTransformationMetadata(context, loop->getLoopID(),
                                                         {"llvm.loop.unroll."}, {wanted}));
}

}  // namespace

llvm::PreservedAnalyses UnrollIndexed::run(llvm::Function& f,
                                           llvm::FunctionAnalysisManager& analyses) {
    const bool has_arrays = llvm::any_of(llvm::instructions(f), [](const llvm::Instruction& i) {
        const auto* at = llvm::dyn_cast<llvm::GetElementPtrInst>(&i);
        return at && !at->hasAllConstantIndices() && is_small_array(at->getPointerOperand());
    });
    if (!has_arrays) return llvm::PreservedAnalyses::all();
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(f);
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(f);
    bool any = false;
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
        const unsigned steps = evolution.getSmallConstantMaxTripCount(loop);
        if (steps == 0 || steps > most_steps || !indexes_array(loop, evolution)) continue;
        mark(loop);
        any = true;
    }
    if (!any) return llvm::PreservedAnalyses::all();
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopRotatePass()));
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass()));
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::InstCombinePass());
    passes.run(f, analyses);
    return llvm::PreservedAnalyses::none();
}

}  // namespace unisono::codegen
