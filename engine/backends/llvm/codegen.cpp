// The short pass list and the target machines.
//
// The list is what array loops need and no more: locals to registers, inlining of the few internal
// calls, loops vectorised, small ones that stay scalar unrolled, what that leaves cleaned up. Code
// generation runs without loop strength reduction, which costs a third of its time and gains
// nothing here, and without the schedulers of machine instructions: processors that reorder them
// run the code as fast.
#include "backends/llvm/codegen.h"
#include "backends/codegen/analyses.h"
#include "backends/llvm/arithmetic.h"
#include "backends/llvm/emitter.h"
#include "backends/llvm/transforms/branch_switches.h"
#include "backends/llvm/transforms/mark_streaming.h"
#include "backends/llvm/transforms/ordered_sums.h"
#include "backends/llvm/transforms/record_branches.h"
#include "backends/llvm/transforms/scalar_conversions.h"
#include "backends/llvm/transforms/scalar_selects.h"
#include "backends/llvm/transforms/unroll_indexed.h"
#include "backends/llvm/transforms/unroll_small.h"
#include "core/processor.h"
#include "core/threads/fork.h"
#include "core/threads/run_apart.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/JumpThreading.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace unisono::codegen {

namespace {

constexpr const char* inline_passes = "always-inline,cgscc(inline),";
constexpr const char* host_passes =
    "function(sroa,early-cse,unisono-try,simplifycfg,instcombine<no-verify-fixpoint>,"
    "unisono-while,loop-mssa(licm),unisono-branches,unisono-interleave,loop-vectorize,unisono-"
    "streaming,loop-load-elim,unisono-unroll,early-cse,"
    "simplifycfg,"
    "loop-mssa(licm),unisono-records)";
/// Vector forms of functions of angles, which the vectoriser calls.
constexpr const char* late_inline_passes = ",always-inline";
/// Code of C text comes as clang writes it: with all that it takes.
constexpr const char* native_passes = "default<O2>";
/// What branches say of alignment (FunctionEmitter::assume_multiples) is used first: the others
/// take it away, since it follows from the branch.
constexpr const char* device_passes =
    "function(sroa,infer-alignment,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "unisono-arrays,loop-mssa(licm),"
    "simplifycfg,"
    "infer-address-spaces,early-cse<memssa>,load-store-vectorizer),globaldce";

/// What the condition of a while loop says of an index (`while j >= 0 and x[j] > y`) makes tests of
/// it needless. Other loops know the ranges of theirs before.
struct KnownInWhile : llvm::PassInfoMixin<KnownInWhile> {
    llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
        if (!f.hasFnAttribute(while_attribute)) return llvm::PreservedAnalyses::all();
        llvm::FunctionPassManager passes;
        passes.addPass(llvm::SimplifyCFGPass());
        passes.addPass(llvm::CorrelatedValuePropagationPass());
        passes.addPass(llvm::InstCombinePass());
        passes.addPass(llvm::EarlyCSEPass());
        return passes.run(f, analyses);
    }
};

/// Calls inside of try whose bodies were taken in: what raises goes on at the handler, without a
/// look at how the call ended.
struct WaysOutOfTry : llvm::PassInfoMixin<WaysOutOfTry> {
    llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
        if (!f.hasFnAttribute(try_attribute)) return llvm::PreservedAnalyses::all();
        llvm::FunctionPassManager passes;
        passes.addPass(llvm::JumpThreadingPass());
        return passes.run(f, analyses);
    }
};

double elapsed_us(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - since)
        .count();
}

/// Registers targets and options; the caller holds a lock that a fork waits for.
void initialise() {
    static constinit bool is_done = false;
    if (std::exchange(is_done, true)) return;
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    const char* options[] = {
        "unisono", "-disable-lsr", "-disable-post-ra", "-enable-misched=false",
        "-enable-tail-merge=false", "-disable-x86-domain-reassignment", "-disable-mergeicmps",
        // Rows of 20 elements: what the long steps leave takes short ones.
        "-epilogue-vectorization-minimum-VF=8", "-disable-partial-libcall-inlining",
        // Pairs under a mask (complex numbers) are masked vectors, no gathers.
        "-enable-masked-interleaved-mem-accesses",
        // `s += f(x[i])`: terms in vectors, added one by one in order.
        "-force-ordered-reductions",
        // Faults leave loops that are unrolled, too.
        "-unroll-runtime-multi-exit",
        // Selections stay selections: whether a branch could be predicted only the data tell. If
        // not (searches, maxima along a table), it costs up to five times as much.
        "-x86-cmov-converter=false"};
    llvm::cl::ParseCommandLineOptions(static_cast<int>(std::size(options)), options);
}

std::string host_features() {
    std::string text;
    for (const auto& [feature, present] : llvm::sys::getHostCPUFeatures()) {
        text += (text.empty() ? "" : ",") + std::string(present ? "+" : "-") + feature.str();
    }
    // Float16 is computed as float32. With the instructions for it LLVM 19 compares halves instead,
    // and some of those masks come out wrong beside vectors of float64.
    if (text.find("avx512fp16") != std::string::npos) text += ",-avx512fp16";
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

void add_passes(llvm::TargetMachine& machine, llvm::legacy::PassManager& passes,
                llvm::raw_pwrite_stream& stream, llvm::CodeGenFileType type) {
    if (machine.addPassesToEmitFile(passes, stream, nullptr, type, true)) {
        fail(ErrorKind::Internal, "llvm: this target emits no such file");
    }
}

/// Whether making and optimising the module will have left many holes in the heap.
bool is_large(const llvm::Module& module) {
    constexpr unsigned many = 5000;
    unsigned count = 0;
    for (const llvm::Function& f : module) count += f.getInstructionCount();
    return count >= many;
}

/// A target machine, and the passes that turn a module into an object. Making them, and on their
/// first use all that they know of the processor, takes as long as compiling a small loop.
class Generator {
  public:
    Generator(const Target& target, const Machine& machine)
        : machine_(target_machine(target, machine)) {}
    llvm::TargetMachine& machine() const { return *machine_; }

    std::string object(llvm::Module& module) {
        if (!has_passes_) {
            add_passes(*machine_, passes_, stream_, llvm::CodeGenFileType::ObjectFile);
            has_passes_ = true;
        }
        bytes_.clear();
        if (is_large(module))
            run_apart([&] { passes_.run(module); });
        else
            passes_.run(module);
        return std::string(bytes_.begin(), bytes_.end());
    }

  private:
    std::unique_ptr<llvm::TargetMachine> machine_;
    llvm::SmallVector<char, 0> bytes_;
    llvm::raw_svector_ostream stream_{bytes_};
    llvm::legacy::PassManager passes_;
    bool has_passes_ = false;
};

/// A generator for as long as a module is compiled. They are kept, one for each thread that
/// compiles at the same time.
class LentGenerator {
  public:
    LentGenerator(const Target& target, const Machine& machine)
        : key_(machine.triple + '\n' + machine.cpu + '\n' + machine.features) {
        {
            std::lock_guard lock(kept.mutex);
            auto& free = kept.free[key_];
            if (!free.empty()) {
                generator_ = std::move(free.back());
                free.pop_back();
            }
        }
        if (!generator_) generator_ = std::make_unique<Generator>(target, machine);
    }
    ~LentGenerator() {
        std::lock_guard lock(kept.mutex);
        kept.free[key_].push_back(std::move(generator_));
    }
    LentGenerator(const LentGenerator&) = delete;
    LentGenerator& operator=(const LentGenerator&) = delete;
    Generator* operator->() const { return generator_.get(); }

  private:
    struct Kept {
        ProcessMutex mutex;
        std::map<std::string, std::vector<std::unique_ptr<Generator>>> free;
    };
    static inline Kept& kept = *new Kept;  // threads may compile while the process ends

    std::string key_;
    std::unique_ptr<Generator> generator_;
};

void stamp(llvm::Module& module, const Target& target, const Machine& machine) {
    for (llvm::Function& f : module) {
        if (f.isDeclaration()) continue;
        f.addFnAttr("target-cpu", machine.cpu);
        f.addFnAttr("target-features", machine.features);
        if (target.kind == Target::Kind::Host) {
            // Streams from memory run a tenth faster in half vectors; in the caches, and where the
            // computation takes longer than the memory, the widest win.
            int bytes = vector_bytes(machine);
            if (f.hasFnAttribute(streams_attribute) && !is_heavy(f)) bytes = std::min(bytes, 32);
            f.addFnAttr("prefer-vector-width", std::to_string(bytes * 8));
            if (target.want_lines && target.want_code) f.addFnAttr("frame-pointer", "all");
        }
    }
}

/// Vector forms stand in the module for the vectoriser to find, and are taken in where it calls
/// them.
bool is_vector_form(const llvm::Function& f) {
    return !f.isDeclaration() && f.hasLocalLinkage() &&
           f.hasFnAttribute(llvm::Attribute::AlwaysInline);
}

/// Those that it left alone need no code, nor do those whose calls have all taken them in.
void drop_vector_forms(llvm::Module& module) {
    if (llvm::GlobalVariable* kept = module.getGlobalVariable("llvm.compiler.used", true))
        kept->eraseFromParent();
    for (llvm::Function& f : llvm::make_early_inc_range(module)) {
        if (!is_vector_form(f)) continue;
        f.removeDeadConstantUsers();  // that list
        if (f.use_empty()) f.eraseFromParent();
    }
}

/// Whether the inliner has anything to look at: bodies of parallel loops and parts of long
/// functions are called by address, or stay what they are.
bool has_calls_inside(llvm::Module& module) {
    return llvm::any_of(module, [](const llvm::Function& f) {
        if (f.isDeclaration() || f.hasFnAttribute(llvm::Attribute::NoInline)) return false;
        return llvm::any_of(f.users(), [&](const llvm::User* user) {
            auto* call = llvm::dyn_cast<llvm::CallBase>(user);
            return call && call->getCalledFunction() == &f;
        });
    });
}

void optimise(llvm::Module& module, const Target& target, llvm::TargetMachine& machine) {
    llvm::PipelineTuningOptions tuning;
    tuning.LoopInterleaving = true;
    llvm::PassBuilder builder(&machine, tuning);
    builder.registerPipelineParsingCallback(
        [](llvm::StringRef name, llvm::FunctionPassManager& passes, auto) {
            if (name == "unisono-streaming") {
                passes.addPass(MarkStreaming());
            } else if (name == "unisono-try") {
                passes.addPass(WaysOutOfTry());
            } else if (name == "unisono-while") {
                passes.addPass(KnownInWhile());
            } else if (name == "unisono-branches") {
                passes.addPass(BranchSwitches());
            } else if (name == "unisono-interleave") {
                passes.addPass(InterleaveChains());
            } else if (name == "unisono-records") {
                passes.addPass(RecordBranches());
            } else if (name == "unisono-unroll") {
                passes.addPass(UnrollSmall());
            } else if (name == "unisono-arrays") {
                passes.addPass(UnrollIndexed());
            } else {
                return false;
            }
            return true;
        });
    Analyses analyses(builder);
    llvm::ModulePassManager passes;
    const bool is_host = target.kind == Target::Kind::Host;
    const bool has_forms = is_host && llvm::any_of(module, is_vector_form);
    std::string list = has_calls_inside(module) ? inline_passes : "";
    list += is_host ? host_passes : device_passes;
    if (target.has_natives) list = native_passes;
    if (has_forms) list += late_inline_passes;
    if (llvm::Error error = builder.parsePassPipeline(passes, list)) {
        fail(ErrorKind::Internal, "llvm: pass list: " + llvm::toString(std::move(error)));
    }
    passes.run(module, analyses.modules);
    if (has_forms) drop_vector_forms(module);
    if (!is_host) return;
    use_truncating_conversions(module);
    add_from_memory(module);
    separate_comparisons(module);
}

std::string assembly(llvm::Module& module, llvm::TargetMachine& machine) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    add_passes(machine, passes, stream, llvm::CodeGenFileType::AssemblyFile);
    passes.run(module);
    return std::string(bytes.begin(), bytes.end());
}

/// The line table of an object: its rows by offset into the code.
std::vector<CodeLine> line_table(const std::string& object, const ir::Module& module) {
    auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
    if (!file) {
        llvm::consumeError(file.takeError());
        return {};
    }
    const auto& files = module.entry().files;
    std::vector<CodeLine> lines;
    auto context = llvm::DWARFContext::create(**file);
    for (const auto& unit : context->compile_units()) {
        const auto* table = context->getLineTableForUnit(unit.get());
        if (!table) continue;
        for (const auto& row : table->Rows) {
            std::string path;
            table->getFileNameByIndex(row.File, unit->getCompilationDir(),
                                      llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath,
                                      path);
            auto at = std::find(files.begin(), files.end(), path);
            CodeLine line{row.Address.Address, 0, 0};
            if (at != files.end() && !row.EndSequence) {
                line.file = static_cast<int>(at - files.begin());
                line.line = static_cast<int>(row.Line);
            }
            lines.push_back(line);
        }
    }
    return lines;
}

/// Errors become exceptions; remarks (a loop that was not vectorised) are kept where asked for.
struct Diagnostics final : llvm::DiagnosticHandler {
    std::string* errors;
    std::vector<Remark>* remarks;
    Diagnostics(std::string* e, std::vector<Remark>* r) : errors(e), remarks(r) {}
    bool isAnalysisRemarkEnabled(llvm::StringRef) const override { return remarks != nullptr; }
    bool isMissedOptRemarkEnabled(llvm::StringRef) const override { return remarks != nullptr; }
    bool isPassedOptRemarkEnabled(llvm::StringRef) const override { return remarks != nullptr; }
    bool isAnyRemarkEnabled() const override { return remarks != nullptr; }
    bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
        if (auto* r = llvm::dyn_cast<llvm::DiagnosticInfoOptimizationBase>(&info)) {
            if (remarks) add(*r);
            return true;
        }
        if (info.getSeverity() == llvm::DS_Error) {
            llvm::raw_string_ostream stream(*errors);
            llvm::DiagnosticPrinterRawOStream printer(stream);
            info.print(printer);
        }
        return true;
    }
    void add(const llvm::DiagnosticInfoOptimizationBase& r) {
        Remark made;
        made.pass = r.getPassName().str();
        made.name = r.getRemarkName().str();
        made.done = r.isPassed();
        made.function = r.getFunction().getName().str();
        made.text = r.getMsg();
        if (r.isLocationAvailable()) {
            made.file = r.getAbsolutePath();
            made.line = static_cast<int>(r.getLocation().getLine());
        }
        remarks->push_back(std::move(made));
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
    // The engine for processors without AVX2 calls kernels, and is called, by their conventions.
    if (!is_built_for_avx2()) return {llvm::sys::getProcessTriple(), "x86-64", ""};
    // Under the lock of initialise().
    static const Machine host{llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(),
                              host_features()};
    return host;
}

int vector_bytes(const Machine& machine) {
    if (machine.features.find("+avx512f") != std::string::npos) return 64;
    return machine.features.find("+avx2") != std::string::npos ? 32 : 16;
}

void generate(llvm::Module& module, const ir::Module& source, const Target& target,
              const Machine& machine, Result& result) {
    std::string errors;
    module.getContext().setDiagnosticHandler(
        std::make_unique<Diagnostics>(&errors, target.want_lines ? &result.remarks : nullptr));
    auto started = std::chrono::steady_clock::now();
    LentGenerator generator(target, machine);
    llvm::TargetMachine& tm = generator->machine();
    module.setTargetTriple(machine.triple);
    module.setDataLayout(tm.createDataLayout());
    stamp(module, target, machine);
#ifdef UNISONO_DEBUG_BUILD
    std::string broken;
    llvm::raw_string_ostream stream(broken);
    if (llvm::verifyModule(module, &stream)) {
        module.print(stream, nullptr);
        fail(ErrorKind::Internal, "llvm: the emitted module is broken: " + broken);
    }
#endif
    optimise(module, target, tm);
    result.times.passes = elapsed_us(started);
    if (target.want_ir) {
        llvm::raw_string_ostream text(result.ir);
        module.print(text, nullptr);
    }
    if (target.want_assembly) {
        auto copy = llvm::CloneModule(module);
        result.assembly = assembly(*copy, tm);
    }
    if (target.want_code) {
        started = std::chrono::steady_clock::now();
        result.code =
            target.kind == Target::Kind::Host ? generator->object(module) : assembly(module, tm);
        result.times.code = elapsed_us(started);
        if (target.want_lines && target.kind == Target::Kind::Host)
            result.lines = line_table(result.code, source);
    }
    if (!errors.empty())
        fail(target.has_natives ? ErrorKind::Compile : ErrorKind::Internal, "llvm: " + errors);
}

}  // namespace unisono::codegen
