// Reads from code of C text what its functions do.
#include "backends/clang/effects.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <set>

#include "backends/codegen/analyses.h"

namespace unisono::codegen {

namespace {

bool takes_numbers(const CFunction& f) {
    return !f.is_variadic && !f.params.empty() &&
           std::all_of(f.params.begin(), f.params.end(),
                       [](const CType& t) { return t.kind < CType::Kind::Complex; });
}

/// Whether calls are short: no loop, no recursion, and of functions outside of the text only
/// the mathematical ones.
class Shortness {
  public:
    explicit Shortness(const llvm::TargetLibraryInfo& known) : known_(known) {}

    bool holds(const llvm::Function& f) {
        if (f.isDeclaration()) return is_mathematical(f);
        if (!in_progress_.insert(&f).second) return false;
        bool is_short = !has_loop(f);
        for (const llvm::BasicBlock& block : f) {
            for (const llvm::Instruction& i : block) {
                if (!is_short) break;
                if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&i))
                    is_short = is_over(*call);
            }
        }
        in_progress_.erase(&f);
        return is_short;
    }

  private:
    static constexpr int most_calls = 200;

    static bool has_loop(const llvm::Function& f) {
        for (auto part = llvm::scc_begin(&f); !part.isAtEnd(); ++part) {
            if (part.hasCycle()) return true;
        }
        return false;
    }

    bool is_over(const llvm::CallBase& call) {
        if (const auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&call))
            return llvm::isa<llvm::ConstantInt>(memory->getLength());
        if (llvm::isa<llvm::IntrinsicInst>(call)) return true;
        const llvm::Function* callee = call.getCalledFunction();
        return callee && ++calls_ < most_calls && holds(*callee);
    }

    bool is_mathematical(const llvm::Function& f) const {
        llvm::LibFunc which;
        auto is_float = [](const llvm::Type* t) { return t->isFloatingPointTy(); };
        return known_.getLibFunc(f, which) && is_float(f.getReturnType()) &&
               std::any_of(f.getFunctionType()->param_begin(), f.getFunctionType()->param_end(),
                           is_float);
    }

    const llvm::TargetLibraryInfo& known_;
    std::set<const llvm::Function*> in_progress_;
    int calls_ = 0;  ///< followed: their number may double from function to function
};

}  // namespace

void find_effects(const llvm::Module& module, CResult& result) {
    llvm::TargetLibraryInfoImpl library{llvm::Triple(module.getTargetTriple())};
    llvm::TargetLibraryInfo known(library);
    for (CFunction& f : result.functions) {
        const llvm::Function* code = module.getFunction(f.name);
        f.is_short = code && Shortness(known).holds(*code);
    }
    if (std::none_of(result.functions.begin(), result.functions.end(), takes_numbers)) return;
    auto copy = llvm::CloneModule(module);
    llvm::PassBuilder builder;
    Analyses analyses(builder);
    llvm::ModulePassManager passes;
    if (llvm::Error error =
            builder.parsePassPipeline(passes, "function(sroa),cgscc(function-attrs)")) {
        llvm::consumeError(std::move(error));
        return;
    }
    passes.run(*copy, analyses.modules);
    for (CFunction& f : result.functions) {
        const llvm::Function* code = copy->getFunction(f.name);
        f.is_pure = takes_numbers(f) && code && code->doesNotAccessMemory();
    }
}

}  // namespace unisono::codegen
