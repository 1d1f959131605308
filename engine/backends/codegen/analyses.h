// The analyses that LLVM's passes ask for; included by the plugins that run passes.
#pragma once

#include <llvm/Passes/PassBuilder.h>

namespace unisono::codegen {

/// The managers of analyses, registered with a builder and with each other.
struct Analyses {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;

    explicit Analyses(llvm::PassBuilder& builder) {
        builder.registerModuleAnalyses(modules);
        builder.registerCGSCCAnalyses(components);
        builder.registerFunctionAnalyses(functions);
        builder.registerLoopAnalyses(loops);
        builder.crossRegisterProxies(loops, functions, components, modules);
    }
};

}  // namespace unisono::codegen
