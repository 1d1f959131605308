// Adds the elements of vectors in order from memory.
//
// `s += f(x[i])` computes its terms in vectors and adds them one by one: the time of that chain of
// additions is the loop's. LLVM takes the elements out of the register by shuffles, which share
// units with the additions and delay them; loads use units of their own. Terms that are elements of
// an array are read from there.
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

/// Where the vector that the call adds was read, if the elements are still there and nothing else
/// needs it; null otherwise.
llvm::Value* memory_of(llvm::IntrinsicInst& call) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(call.getArgOperand(1));
    if (!load || !load->isSimple() || !load->hasOneUse() || load->getParent() != call.getParent())
        return nullptr;
    for (llvm::Instruction* i = load; i != &call; i = i->getNextNode()) {
        if (i->mayWriteToMemory()) return nullptr;
    }
    return load->getPointerOperand();
}

/// The vector that the call adds, stored in memory of the function's own.
llvm::Value* stored(llvm::IntrinsicInst& call, llvm::IRBuilder<>& b) {
    llvm::Value* vector = call.getArgOperand(1);
    llvm::IRBuilder<> entry(&call.getFunction()->getEntryBlock().front());
    llvm::AllocaInst* memory = entry.CreateAlloca(vector->getType(), nullptr, "terms");
    const auto bits = vector->getType()->getPrimitiveSizeInBits().getFixedValue();
    memory->setAlignment(llvm::Align(bits / 8));
    b.CreateAlignedStore(vector, memory, memory->getAlign());
    return memory;
}

void replace(llvm::IntrinsicInst& call) {
    llvm::IRBuilder<> b(&call);
    auto* lanes = llvm::cast<llvm::FixedVectorType>(call.getArgOperand(1)->getType());
    llvm::Type* element = lanes->getElementType();
    llvm::Value* memory = memory_of(call);
    if (!memory) memory = stored(call, b);
    llvm::Value* sum = call.getArgOperand(0);
    for (unsigned k = 0; k < lanes->getNumElements(); ++k) {
        llvm::Value* place = b.CreateConstInBoundsGEP1_32(element, memory, k);
        sum = b.CreateFAdd(sum, b.CreateAlignedLoad(element, place, llvm::Align(1)));
    }
    auto* load = llvm::dyn_cast<llvm::LoadInst>(call.getArgOperand(1));
    call.replaceAllUsesWith(sum);
    call.eraseFromParent();
    if (load && load->use_empty()) load->eraseFromParent();
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
