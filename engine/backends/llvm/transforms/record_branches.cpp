// Asks for branches where a loop keeps the position of a record.
//
// In `if x[i] < x[best]: best = i` the next iteration loads what this one has selected, so that
// each waits for a load, a comparison and a selection. The condition becomes harder to meet with
// each time it is met, and is seldom met before long: a branch is predicted, and iterations no
// longer wait for each other. That is so where the new position does not depend on the old one. In
// a search (`lo = mid + 1`) it does, and nobody can foresee its way.
#include "backends/llvm/transforms/record_branches.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

namespace unisono::codegen {

namespace {

constexpr std::size_t most_values = 64;
constexpr std::uint32_t seldom = 1, often = 1000;

/// What a value is computed from in an iteration, as far back as the loop's header.
class Origins {
  public:
    Origins(const llvm::Loop& loop, const llvm::Value* of) {
        llvm::SmallVector<const llvm::Value*> open{of};
        while (!open.empty() && seen_.size() < most_values) {
            const auto* i = llvm::dyn_cast<llvm::Instruction>(open.pop_back_val());
            if (!i || !loop.contains(i) || !seen_.insert(i).second) continue;
            const bool is_header =
                llvm::isa<llvm::PHINode>(i) && i->getParent() == loop.getHeader();
            if (!is_header) open.append(i->value_op_begin(), i->value_op_end());
        }
        is_whole_ = open.empty();
    }
    bool are_known() const { return is_whole_; }
    bool have(const llvm::Value* v) const { return seen_.contains(v); }
    /// Whether a load among them finds its address by that value.
    bool load_by(const llvm::Loop& loop, const llvm::Value* v) const {
        return llvm::any_of(seen_, [&](const llvm::Value* i) {
            const auto* load = llvm::dyn_cast<llvm::LoadInst>(i);
            return load && Origins(loop, load->getPointerOperand()).have(v);
        });
    }

  private:
    llvm::SmallPtrSet<const llvm::Value*, 16> seen_;
    bool is_whole_ = false;
};

void mark_record(const llvm::Loop& loop, const llvm::PHINode& record) {
    auto* select =
        llvm::dyn_cast<llvm::SelectInst>(record.getIncomingValueForBlock(loop.getLoopLatch()));
    if (!select || !select->getType()->isIntegerTy() || !loop.contains(select)) return;
    const bool stays_if_true = select->getTrueValue() == &record;
    if (!stays_if_true && select->getFalseValue() != &record) return;
    const Origins next(loop, stays_if_true ? select->getFalseValue() : select->getTrueValue());
    if (!next.are_known() || next.have(&record)) return;
    if (!Origins(loop, select->getCondition()).load_by(loop, &record)) return;
    llvm::MDBuilder weights(select->getContext());
    select->setMetadata(llvm::LLVMContext::MD_prof,
                        weights.createBranchWeights(stays_if_true ? often : seldom,
                                                    stays_if_true ? seldom : often));
}

}  // namespace

llvm::PreservedAnalyses RecordBranches::run(llvm::Function& f,
                                            llvm::FunctionAnalysisManager& analyses) {
    for (const llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(f).getLoopsInPreorder()) {
        if (!loop->isInnermost() || !loop->getLoopLatch()) continue;
        for (const llvm::PHINode& record : loop->getHeader()->phis()) mark_record(*loop, record);
    }
    return llvm::PreservedAnalyses::all();
}

}  // namespace unisono::codegen
