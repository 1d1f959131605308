// Marks stores and prefetches what their loop reads.
//
// Of several loads that walk through the same memory at a small distance (the rows of a stencil),
// only the foremost finds lines that are not in a cache yet. Which one that is depends on addresses
// that are known before the loop begins: there each load gets its distance, 0 where another load
// leads.
#include "backends/llvm/transforms/mark_streaming.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "backends/llvm/emitter.h"

namespace unisono::codegen {

namespace {

/// Far enough ahead for memory, near enough to stay in the first-level cache; not a whole page,
/// whose lines would fall into the sets of those that are being read. In bytes.
constexpr std::int64_t prefetch_distance = 3072;
/// The same where only few streams come from memory: beyond the next page, whose address the
/// processor then knows when it gets there.
constexpr std::int64_t far_prefetch_distance = 8192 + 512;
constexpr std::uint64_t few_streams = 2;
/// A load that another precedes by less than this finds its lines in a cache. In bytes.
constexpr std::int64_t reuse_distance = 256 * 1024;
/// With more loads than this, comparing all pairs costs more than it saves.
constexpr std::size_t most_compared = 8;

bool is_marked(const llvm::Instruction& i, const llvm::Metadata* marker) {
    llvm::MDNode* groups = i.getMetadata(llvm::LLVMContext::MD_access_group);
    if (!groups) return false;
    return groups == marker || llvm::is_contained(groups->operands(), marker);
}

bool make_nontemporal(llvm::BasicBlock& block, const llvm::Metadata* marker) {
    bool any = false;
    llvm::LLVMContext& context = block.getContext();
    llvm::Constant* one = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1);
    auto* node = llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(one));
    for (llvm::Instruction& i : block) {
        auto* store = llvm::dyn_cast<llvm::StoreInst>(&i);
        if (!store || !is_marked(i, marker)) continue;
        llvm::Type* type = store->getValueOperand()->getType();
        std::uint64_t bytes = block.getModule()->getDataLayout().getTypeStoreSize(type);
        if (!type->isVectorTy() || bytes < 16 || bytes > 64) continue;
        store->setAlignment(llvm::Align(bytes));
        store->setMetadata(llvm::LLVMContext::MD_nontemporal, node);
        any = true;
    }
    return any;
}

/// The address that the load reads first, as a number made before the loop; null where unknown.
Value* first_address(llvm::LoadInst* load, llvm::Loop* loop, llvm::ScalarEvolution& evolution,
                     llvm::SCEVExpander& expander) {
    auto* walk = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(load->getPointerOperand()));
    if (!walk || walk->getLoop() != loop) return nullptr;
    llvm::Instruction* before = loop->getLoopPreheader()->getTerminator();
    if (!expander.isSafeToExpandAt(walk->getStart(), before)) return nullptr;
    Value* pointer =
        expander.expandCodeFor(walk->getStart(), load->getPointerOperandType(), before);
    return llvm::IRBuilder<>(before).CreatePtrToInt(pointer,
                                                    llvm::Type::getInt64Ty(load->getContext()));
}

/// In bytes, of each load whose first address is known: 0 where another load leads.
std::vector<Value*> prefetch_distances(const std::vector<Value*>& first, llvm::Loop* loop,
                                       llvm::LLVMContext& context) {
    llvm::IRBuilder<> b(context);
    const std::size_t n = first.size();
    std::vector<Value*> distance(n, b.getInt64(prefetch_distance));
    if (llvm::all_of(first, [](Value* v) { return !v; })) return distance;
    b.SetInsertPoint(loop->getLoopPreheader()->getTerminator());
    std::vector<Value*> leads(n, nullptr);
    Value* streams = b.getInt64(0);
    for (std::size_t k = 0; k < n; ++k) {
        leads[k] = b.getTrue();
        for (std::size_t j = 0; j < n; ++j) {
            if (j == k || !first[j] || !first[k]) continue;
            Value* lead = b.CreateSub(b.CreateSub(first[j], first[k]), b.getInt64(1));
            Value* follows = b.CreateICmpULT(lead, b.getInt64(reuse_distance));
            leads[k] = b.CreateSelect(follows, b.getFalse(), leads[k]);
        }
        streams = b.CreateAdd(streams, b.CreateZExt(leads[k], b.getInt64Ty()));
    }
    Value* ahead = b.CreateSelect(b.CreateICmpULE(streams, b.getInt64(few_streams)),
                                  b.getInt64(far_prefetch_distance), b.getInt64(prefetch_distance));
    for (std::size_t k = 0; k < n; ++k)
        distance[k] = b.CreateSelect(leads[k], ahead, b.getInt64(0));
    return distance;
}

void prefetch_loads(llvm::BasicBlock& block, llvm::Loop* loop, llvm::ScalarEvolution& evolution) {
    std::vector<llvm::LoadInst*> loads;
    for (llvm::Instruction& i : block) {
        auto* load = llvm::dyn_cast<llvm::LoadInst>(&i);
        if (load && load->getType()->isVectorTy()) loads.push_back(load);
    }
    std::vector<Value*> first(loads.size(), nullptr);
    if (loop && loop->getLoopPreheader() && loads.size() <= most_compared) {
        llvm::SCEVExpander expander(evolution, block.getModule()->getDataLayout(), "first");
        for (std::size_t k = 0; k < loads.size(); ++k)
            first[k] = first_address(loads[k], loop, evolution, expander);
    }
    std::vector<Value*> distance = prefetch_distances(first, loop, block.getContext());
    llvm::IRBuilder<> b(block.getContext());
    for (std::size_t k = 0; k < loads.size(); ++k) {
        b.SetInsertPoint(loads[k]);
        Value* ahead = b.CreateGEP(b.getInt8Ty(), loads[k]->getPointerOperand(), distance[k]);
        b.CreateIntrinsic(llvm::Intrinsic::prefetch, {ahead->getType()},
                          {ahead, b.getInt32(0), b.getInt32(3), b.getInt32(1)});
    }
}

}  // namespace

llvm::PreservedAnalyses MarkStreaming::run(llvm::Function& f,
                                           llvm::FunctionAnalysisManager& analyses) {
    llvm::NamedMDNode* named = f.getParent()->getNamedMetadata(streaming_marker);
    if (!named) return llvm::PreservedAnalyses::all();
    const llvm::Metadata* marker = named->getOperand(0);
    std::vector<llvm::BasicBlock*> marked;
    for (llvm::BasicBlock& block : f) {
        if (make_nontemporal(block, marker)) marked.push_back(&block);
    }
    if (marked.empty()) return llvm::PreservedAnalyses::all();
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(f);
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(f);
    for (llvm::BasicBlock* block : marked)
        prefetch_loads(*block, loops.getLoopFor(block), evolution);
    return llvm::PreservedAnalyses::none();
}

}  // namespace unisono::codegen
