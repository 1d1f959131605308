// The short pass list and the target machines.
//
// The list is what array loops need and no more: locals to registers, inlining of the few internal
// calls, loops vectorised, what that leaves cleaned up. Code generation runs without loop strength
// reduction, which costs a third of its time and gains nothing here.
#include "backends/llvm/codegen.h"
#include "backends/llvm/mark_streaming.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <chrono>
#include <mutex>

namespace unisono::codegen {

namespace {

constexpr const char* host_passes =
    "always-inline,cgscc(inline),"
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(licm),loop-vectorize,unisono-streaming,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm))";
constexpr const char* device_passes =
    "always-inline,cgscc(inline),"
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),"
    "simplifycfg,"
    "infer-address-spaces,early-cse<memssa>),globaldce";

double elapsed_us(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - since)
        .count();
}

void initialise() {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
        const char* options[] = {"unisono", "-disable-lsr"};
        llvm::cl::ParseCommandLineOptions(2, options);
    });
}

std::string host_features() {
    std::string text;
    for (const auto& [feature, present] : llvm::sys::getHostCPUFeatures()) {
        text += (text.empty() ? "" : ",") + std::string(present ? "+" : "-") + feature.str();
    }
    return text;
}

std::unique_ptr<llvm::TargetMachine> target_machine(const Target& target, const Machine& machine) {
    std::string error;
    const llvm::Target* found = llvm::TargetRegistry::lookupTarget(machine.triple, error);
    if (!found) fail(ErrorKind::Internal, "llvm: " + error);
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    auto relocation =
        target.kind == Target::Kind::Host ? std::optional(llvm::Reloc::PIC_) : std::nullopt;
    std::unique_ptr<llvm::TargetMachine> made(found->createTargetMachine(
        machine.triple, machine.cpu, machine.features, options, relocation,
        target.kind == Target::Kind::Host ? std::optional(llvm::CodeModel::Small) : std::nullopt,
        llvm::CodeGenOptLevel::Default, target.kind == Target::Kind::Host));
    if (!made) fail(ErrorKind::Internal, "llvm: no target machine for " + machine.triple);
    return made;
}

/// Whether an element costs more arithmetic than memory traffic: mathematical functions are in it.
bool is_heavy(const llvm::Function& f) {
    int operations = 0;
    for (const llvm::BasicBlock& block : f) {
        for (const llvm::Instruction& i : block)
            operations += i.getType()->isFloatingPointTy() && !llvm::isa<llvm::LoadInst>(i);
    }
    return operations > 60;
}

void stamp(llvm::Module& module, const Target& target, const Machine& machine) {
    for (llvm::Function& f : module) {
        if (f.isDeclaration()) continue;
        f.addFnAttr("target-cpu", machine.cpu);
        f.addFnAttr("target-features", machine.features);
        if (target.kind == Target::Kind::Host) {
            // Streams from memory run a tenth faster in half vectors; in the caches, and where the
            // computation takes longer than the memory, the widest win.
            int bytes = vector_bytes(machine);
            if (target.streaming && !is_heavy(f)) bytes = std::min(bytes, 32);
            f.addFnAttr("prefer-vector-width", std::to_string(bytes * 8));
        }
    }
}

void optimise(llvm::Module& module, const Target& target, llvm::TargetMachine& machine) {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::PipelineTuningOptions tuning;
    tuning.LoopInterleaving = true;
    llvm::PassBuilder builder(&machine, tuning);
    builder.registerPipelineParsingCallback(
        [](llvm::StringRef name, llvm::FunctionPassManager& passes, auto) {
            if (name != "unisono-streaming") return false;
            passes.addPass(MarkStreaming());
            return true;
        });
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    llvm::ModulePassManager passes;
    const char* list = target.kind == Target::Kind::Host ? host_passes : device_passes;
    if (llvm::Error error = builder.parsePassPipeline(passes, list)) {
        fail(ErrorKind::Internal, "llvm: pass list: " + llvm::toString(std::move(error)));
    }
    passes.run(module, modules);
}

std::string emit_file(llvm::Module& module, llvm::TargetMachine& machine,
                      llvm::CodeGenFileType type) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    if (machine.addPassesToEmitFile(passes, stream, nullptr, type, true)) {
        fail(ErrorKind::Internal, "llvm: this target emits no such file");
    }
    passes.run(module);
    return std::string(bytes.begin(), bytes.end());
}

/// Remarks and warnings (a loop that was not vectorised) are not for the user; errors become
/// exceptions.
struct Diagnostics final : llvm::DiagnosticHandler {
    std::string* errors;
    explicit Diagnostics(std::string* e) : errors(e) {}
    bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
        if (info.getSeverity() == llvm::DS_Error) {
            llvm::raw_string_ostream stream(*errors);
            llvm::DiagnosticPrinterRawOStream printer(stream);
            info.print(printer);
        }
        return true;
    }
};

}  // namespace

Machine machine_of(const Target& target) {
    initialise();
    if (target.kind == Target::Kind::Ptx) {
        return {"nvptx64-nvidia-cuda", target.cpu.empty() ? "sm_70" : target.cpu,
                target.features.empty() ? "+ptx63" : target.features};
    }
    if (!target.cpu.empty()) return {llvm::sys::getProcessTriple(), target.cpu, target.features};
    static const Machine host{llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(),
                              host_features()};
    return host;
}

int vector_bytes(const Machine& machine) {
    if (machine.features.find("+avx512f") != std::string::npos) return 64;
    return machine.features.find("+avx2") != std::string::npos ? 32 : 16;
}

void generate(llvm::Module& module, const Target& target, const Machine& machine, Result& result) {
    std::string errors;
    module.getContext().setDiagnosticHandler(std::make_unique<Diagnostics>(&errors));
    auto started = std::chrono::steady_clock::now();
    auto tm = target_machine(target, machine);
    module.setTargetTriple(machine.triple);
    module.setDataLayout(tm->createDataLayout());
    stamp(module, target, machine);
#ifdef UNISONO_DEBUG_BUILD
    std::string broken;
    llvm::raw_string_ostream stream(broken);
    if (llvm::verifyModule(module, &stream)) {
        module.print(stream, nullptr);
        fail(ErrorKind::Internal, "llvm: the emitted module is broken: " + broken);
    }
#endif
    optimise(module, target, *tm);
    result.times.passes = elapsed_us(started);
    if (target.want_ir) {
        llvm::raw_string_ostream text(result.ir);
        module.print(text, nullptr);
    }
    if (target.want_assembly) {
        auto copy = llvm::CloneModule(module);
        result.assembly = emit_file(*copy, *tm, llvm::CodeGenFileType::AssemblyFile);
    }
    if (target.want_code) {
        started = std::chrono::steady_clock::now();
        result.code =
            emit_file(module, *tm,
                      target.kind == Target::Kind::Host ? llvm::CodeGenFileType::ObjectFile
                                                        : llvm::CodeGenFileType::AssemblyFile);
        result.times.code = elapsed_us(started);
    }
    if (!errors.empty()) fail(ErrorKind::Internal, "llvm: " + errors);
}

}  // namespace unisono::codegen
