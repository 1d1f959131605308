// Keeps selections between scalars out of the general registers.
//
// With AVX-512, LLVM lowers a selection by a comparison that nothing else uses to a masked move
// behind a comparison into a mask register. One that has several users goes through the low byte
// of a general register, as `seta %r9b; kmovd %r9d, %k1`: that reads the rest of the register too,
// so the selection waits for whatever wrote it last, often the end of the loop's iteration before,
// and iterations no longer overlap. So each selection takes a comparison of its own, whose operand
// passes through an arithmetic fence, since LLVM would find equal comparisons again.
#include "backends/llvm/transforms/scalar_selects.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>

namespace unisono::codegen {

namespace {

bool is_scalar_number(const llvm::Type* type) { return type->isFloatTy() || type->isDoubleTy(); }

/// Whether it is a minimum or maximum, for which there are instructions.
bool is_extreme(const llvm::SelectInst& select, const llvm::FCmpInst& comparison) {
    const llvm::Value *a = comparison.getOperand(0), *b = comparison.getOperand(1);
    const llvm::Value *x = select.getTrueValue(), *y = select.getFalseValue();
    return (x == a && y == b) || (x == b && y == a);
}

/// Uses of a comparison of scalars as the condition of other selections between such.
llvm::SmallVector<llvm::SelectInst*> selections(llvm::FCmpInst& comparison) {
    llvm::SmallVector<llvm::SelectInst*> found;
    for (llvm::User* user : comparison.users()) {
        auto* select = llvm::dyn_cast<llvm::SelectInst>(user);
        if (select && select->getCondition() == &comparison &&
            select->getType() == comparison.getOperand(0)->getType() &&
            !is_extreme(*select, comparison))
            found.push_back(select);
    }
    return found;
}

void separate(llvm::FCmpInst& comparison) {
    llvm::SmallVector<llvm::SelectInst*> found = selections(comparison);
    // The last user may keep it.
    if (found.size() == comparison.getNumUses() && !found.empty()) found.pop_back();
    const unsigned compared = llvm::isa<llvm::Constant>(comparison.getOperand(0)) ? 1 : 0;
    llvm::IRBuilder<> b(comparison.getNextNode());
    llvm::Value* fenced = comparison.getOperand(compared);
    for (llvm::SelectInst* select : found) {
        // Each of the one before: equal fences would be merged.
        fenced =
            b.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, {fenced->getType()}, {fenced});
        auto* own = llvm::cast<llvm::FCmpInst>(comparison.clone());
        own->setOperand(compared, fenced);
        own->insertBefore(select);
        select->setCondition(own);
    }
}

}  // namespace

void separate_comparisons(llvm::Module& module) {
    for (llvm::Function& f : module) {
        if (!f.getFnAttribute("target-features").getValueAsString().contains("+avx512f")) continue;
        llvm::SmallVector<llvm::FCmpInst*> comparisons;
        for (llvm::BasicBlock& block : f) {
            for (llvm::Instruction& i : block) {
                auto* comparison = llvm::dyn_cast<llvm::FCmpInst>(&i);
                if (comparison && comparison->hasNUsesOrMore(2) &&
                    is_scalar_number(comparison->getOperand(0)->getType()))
                    comparisons.push_back(comparison);
            }
        }
        for (llvm::FCmpInst* comparison : comparisons) separate(*comparison);
    }
}

}  // namespace unisono::codegen
