// Converts scalars from floats to integers by x86's own instruction.
//
// LLVM's conversion is undefined outside of the integer's range, so the emitter selects the lowest
// integer there (FunctionEmitter::float_to_integer). cvttsd2si and cvttss2si give the same by
// themselves, but LLVM does not fold the selection into them.
#include "backends/llvm/transforms/scalar_conversions.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/Local.h>

namespace unisono::codegen {

namespace {

/// The number that the selection converts; null for other selections.
llvm::Value* converted(llvm::SelectInst& select) {
    using namespace llvm::PatternMatch;
    llvm::Value *x = nullptr, *inside = select.getTrueValue(), *outside = select.getFalseValue();
    auto wanted = llvm::FCmpInst::FCMP_OLT;
    if (match(inside, m_SignMask())) {
        std::swap(inside, outside);
        wanted = llvm::FCmpInst::FCMP_UGE;
    }
    llvm::FCmpInst::Predicate predicate;
    const llvm::APFloat* limit = nullptr;
    if (!match(outside, m_SignMask()) || !match(inside, m_FPToSI(m_Value(x))) ||
        !match(select.getCondition(), m_FCmp(predicate, m_FAbs(m_Specific(x)), m_APFloat(limit))) ||
        predicate != wanted)
        return nullptr;
    const int bits = static_cast<int>(select.getType()->getScalarSizeInBits());
    return limit->getExactLog2() == bits - 1 ? x : nullptr;
}

llvm::Intrinsic::ID instruction(const llvm::Type* from, const llvm::Type* to) {
    if (from->isDoubleTy()) {
        if (to->isIntegerTy(64)) return llvm::Intrinsic::x86_sse2_cvttsd2si64;
        if (to->isIntegerTy(32)) return llvm::Intrinsic::x86_sse2_cvttsd2si;
    } else if (from->isFloatTy()) {
        if (to->isIntegerTy(64)) return llvm::Intrinsic::x86_sse_cvttss2si64;
        if (to->isIntegerTy(32)) return llvm::Intrinsic::x86_sse_cvttss2si;
    }
    return llvm::Intrinsic::not_intrinsic;
}

void replace(llvm::SelectInst& select) {
    llvm::Value* x = converted(select);
    if (!x) return;
    const llvm::Intrinsic::ID id = instruction(x->getType(), select.getType());
    if (id == llvm::Intrinsic::not_intrinsic) return;
    llvm::IRBuilder<> b(&select);
    auto* lanes = llvm::FixedVectorType::get(x->getType(), x->getType()->isDoubleTy() ? 2 : 4);
    llvm::Value* vector =
        b.CreateInsertElement(llvm::PoisonValue::get(lanes), x, static_cast<std::uint64_t>(0));
    select.replaceAllUsesWith(b.CreateIntrinsic(id, {}, {vector}));
    llvm::RecursivelyDeleteTriviallyDeadInstructions(&select);
}

}  // namespace

void use_truncating_conversions(llvm::Module& module) {
    if (llvm::Triple(module.getTargetTriple()).getArch() != llvm::Triple::x86_64) return;
    for (llvm::Function& f : module) {
        llvm::SmallVector<llvm::SelectInst*> selects;
        for (llvm::BasicBlock& block : f) {
            for (llvm::Instruction& i : block) {
                auto* select = llvm::dyn_cast<llvm::SelectInst>(&i);
                if (select && select->getType()->isIntegerTy()) selects.push_back(select);
            }
        }
        for (llvm::SelectInst* select : selects) replace(*select);
    }
}

}  // namespace unisono::codegen
