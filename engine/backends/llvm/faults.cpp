// Emits what follows a fault inside of a try: its number, kind, text and values go to variables.
#include <utility>

#include "backends/llvm/emitter.h"

namespace unisono::codegen {

/// By the number of a site: what ir::FaultSite::code says, and where its text begins among all.
const ModuleEmitter::SiteTables& ModuleEmitter::site_tables() {
    if (site_tables_.codes) return site_tables_;
    std::vector<std::int64_t> codes, texts;
    std::string all(1, '\0');
    for (const ir::Function& f : module.functions) {
        for (const ir::FaultSite& s : f.sites) {
            codes.push_back(s.code());
            texts.push_back(static_cast<std::int64_t>(all.size()));
            all += s.message + '\0';
        }
    }
    auto constant = [&](llvm::Constant* value, const char* name) {
        return new llvm::GlobalVariable(*out, value->getType(), true,
                                        llvm::GlobalValue::PrivateLinkage, value, name);
    };
    site_tables_.count = static_cast<std::int64_t>(codes.size());
    if (codes.empty()) codes.push_back(-1), texts.push_back(0);
    auto numbers = [&](const std::vector<std::int64_t>& list) {
        std::vector<std::uint64_t> bits(list.begin(), list.end());
        return llvm::ConstantDataArray::get(context, bits);
    };
    site_tables_.codes = constant(numbers(codes), "site_codes");
    site_tables_.offsets = constant(numbers(texts), "site_texts");
    site_tables_.text = constant(llvm::ConstantDataArray::getString(context, all, false), "texts");
    return site_tables_;
}

/// Ends the function, or the body of the try around, with the site.
void FunctionEmitter::leave_with(Value* site) {
    exit_site_->addIncoming(site, b_.GetInsertBlock());
    branch_away(exit_);
}

/// Notes a fault where the caller finds it, and leaves.
void FunctionEmitter::raise(Value* site, std::span<Value* const> values) {
    // The layout of Fault: site, iteration, values. A try around takes the site that it leaves
    // with.
    if (exit_site_ == end_site_) {
        b_.CreateStore(site, fault_);
        if (iteration_)
            b_.CreateStore(iteration_, b_.CreateConstInBoundsGEP1_64(m_.i64, fault_, 1));
    } else {
        ++raised_in_try_;
    }
    for (std::size_t k = 0; k < values.size() && k < 4; ++k)
        b_.CreateStore(values[k], b_.CreateConstInBoundsGEP1_64(m_.i64, fault_, 2 + k));
    leave_with(site);
}

/// What the body raises ends in a block that fills the variables and goes on behind the statement.
/// The user's wish to stop passes it by.
void FunctionEmitter::emit_try(ir::S s) {
    if (m_.for_device()) unsupported("try: exceptions are caught on the host only");
    auto set = [&](std::size_t k, Value* value) { b_.CreateStore(value, variable(s->outs[k])); };
    for (std::size_t k = 0; k < s->outs.size(); ++k) set(k, int64(k == 0 ? -1 : 0));
    llvm::BasicBlock* outer = exit_;
    llvm::PHINode* outer_site = exit_site_;
    llvm::BasicBlock* failed = block("raised");
    llvm::BasicBlock* caught = block("caught");
    llvm::BasicBlock* after = block("endtry");
    exit_ = failed;
    exit_site_ = llvm::PHINode::Create(m_.i64, 2, "site", failed);
    llvm::PHINode* site = exit_site_;
    const unsigned raised_around = std::exchange(raised_in_try_, 0);
    emit_all(s->body);
    b_.CreateBr(after);
    // Functions that were called have noted theirs.
    const bool is_noted =
        std::exchange(raised_in_try_, raised_around) < site->getNumIncomingValues();
    exit_ = outer;
    exit_site_ = outer_site;
    cache_.clear();
    if (site->getNumIncomingValues() == 0) {
        failed->eraseFromParent();
        caught->eraseFromParent();
        b_.SetInsertPoint(after);
        return;
    }
    fn_->addFnAttr(try_attribute);
    b_.SetInsertPoint(failed);
    exit_site_->addIncoming(site, failed);
    Value* is_final = b_.CreateOr(b_.CreateICmpEQ(site, int64(interrupted_site)),
                                  b_.CreateICmpEQ(site, int64(deferred_failed_site)));
    b_.CreateCondBr(is_final, exit_, caught);
    b_.SetInsertPoint(caught);
    const auto& tables = m_.site_tables();
    Value* is_known = b_.CreateICmpSLT(site, int64(tables.count));
    Value* number = b_.CreateSelect(is_known, site, int64(0));
    auto entry = [&](llvm::GlobalVariable* table, std::int64_t otherwise) {
        Value* at = b_.CreateInBoundsGEP(m_.i64, table, number);
        return b_.CreateSelect(is_known, b_.CreateLoad(m_.i64, at), int64(otherwise));
    };
    Value* is_memory = b_.CreateICmpEQ(site, int64(out_of_memory_site));
    set(0, site);
    set(1, b_.CreateSelect(is_memory, int64(static_cast<std::int64_t>(ErrorKind::Memory)),
                           entry(tables.codes, -1)));
    Value* text = b_.CreateInBoundsGEP(m_.i8, tables.text, entry(tables.offsets, 0));
    set(2, b_.CreatePtrToInt(text, m_.i64));
    for (std::size_t k = 0; k < 4; ++k) {
        Value* at = b_.CreateConstInBoundsGEP1_64(m_.i64, fault_, 2 + k);
        set(3 + k, b_.CreateLoad(m_.i64, at));
    }
    if (is_noted) b_.CreateStore(int64(-1), fault_);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    cache_.clear();
}

}  // namespace unisono::codegen
