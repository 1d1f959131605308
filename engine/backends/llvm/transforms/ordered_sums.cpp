// Adds the elements of vectors in order from memory.
//
// `s += f(x[i])` computes its terms in vectors and adds them one by one: the time of that chain of
// additions is the loop's. LLVM takes the elements out of the register by shuffles, which share
// units with the additions and delay them; loads use units of their own.
#include "backends/llvm/transforms/ordered_sums.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

namespace unisono::codegen {

namespace {

/// Of the elements of shorter vectors each costs one shuffle at most.
constexpr unsigned fewest_elements = 4;

bool is_ordered_sum(const llvm::IntrinsicInst& call) {
    if (call.getIntrinsicID() != llvm::Intrinsic::vector_reduce_fadd || call.hasAllowReassoc())
        return false;
    auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(call.getArgOperand(1)->getType());
    return lanes && lanes->getNumElements() >= fewest_elements;
}

void replace(llvm::IntrinsicInst& call) {
    llvm::Value* vector = call.getArgOperand(1);
    auto* lanes = llvm::cast<llvm::FixedVectorType>(vector->getType());
    llvm::Type* element = lanes->getElementType();
    llvm::IRBuilder<> entry(&call.getFunction()->getEntryBlock().front());
    llvm::AllocaInst* memory = entry.CreateAlloca(lanes, nullptr, "terms");
    const auto bytes = lanes->getPrimitiveSizeInBits().getFixedValue() / 8;
    memory->setAlignment(llvm::Align(bytes));
    llvm::IRBuilder<> b(&call);
    b.CreateAlignedStore(vector, memory, memory->getAlign());
    llvm::Value* sum = call.getArgOperand(0);
    for (unsigned k = 0; k < lanes->getNumElements(); ++k) {
        llvm::Value* place = b.CreateConstInBoundsGEP1_32(element, memory, k);
        sum = b.CreateFAdd(sum, b.CreateLoad(element, place));
    }
    call.replaceAllUsesWith(sum);
    call.eraseFromParent();
}

}  // namespace

void add_from_memory(llvm::Module& module) {
    for (llvm::Function& f : module) {
        llvm::SmallVector<llvm::IntrinsicInst*> sums;
        for (llvm::BasicBlock& block : f) {
            for (llvm::Instruction& i : block) {
                auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
                if (call && is_ordered_sum(*call)) sums.push_back(call);
            }
        }
        for (llvm::IntrinsicInst* sum : sums) replace(*sum);
    }
}

}  // namespace unisono::codegen
