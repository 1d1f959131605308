// Compiles C text in memory: an invocation of clang's front end over a file system that holds the
// text and our headers.
//
// Two passes over nothing: one parse feeds the code generator and a collector of signatures. The
// bitcode is not optimised here; that happens where it is linked into a kernel.
#include <clang/AST/ASTConsumer.h>
#include <clang/Basic/SourceManager.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Utils/GlobalStatus.h>

#include <filesystem>
#include <map>

#include "backends/clang/collector.h"
#include "backends/clang/effects.h"
#include "backends/clang/headers.h"
#include "backends/clang/limits.h"
#include "backends/codegen/c_text.h"
#include "core/threads/run_apart.h"

namespace unisono::codegen {

namespace {

constexpr const char* start_function = "unisono_start";

class Action final : public clang::EmitLLVMOnlyAction {
  public:
    Action(llvm::LLVMContext& context, CResult& result, const CText& given)
        : EmitLLVMOnlyAction(&context), result_(result), given_(given) {}

  protected:
    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                          llvm::StringRef file) override {
        std::vector<std::unique_ptr<clang::ASTConsumer>> both;
        both.push_back(make_size_limits(compiler));
        both.push_back(make_collector(result_, given_));
        both.push_back(EmitLLVMOnlyAction::CreateASTConsumer(compiler, file));
        both.push_back(make_limits(compiler, *this));
        return std::make_unique<clang::MultiplexConsumer>(std::move(both));
    }

    void EndSourceFileAction() override {
        take_macros();
        EmitLLVMOnlyAction::EndSourceFileAction();
    }

  private:
    /// Macros without parameters that the text or its headers define: constants may be among them.
    void take_macros() {
        clang::Preprocessor& preprocessor = getCompilerInstance().getPreprocessor();
        const clang::SourceManager& sources = preprocessor.getSourceManager();
        for (const auto& macro : preprocessor.macros()) {
            const clang::MacroInfo* info = preprocessor.getMacroInfo(macro.first);
            if (!info || info->isFunctionLike() || info->isBuiltinMacro()) continue;
            clang::PresumedLoc at = sources.getPresumedLoc(info->getDefinitionLoc());
            llvm::StringRef file = at.isValid() ? at.getFilename() : "";
            if (file.empty() || file.starts_with("<built-in>") || file.starts_with(header_folder))
                continue;
            std::string text;
            for (const clang::Token& token : info->tokens())
                text += (text.empty() ? "" : " ") + preprocessor.getSpelling(token);
            if (!text.empty()) result_.macros.emplace_back(macro.first->getName().str(), text);
        }
        std::sort(result_.macros.begin(), result_.macros.end());
    }

    CResult& result_;
    const CText& given_;
};

/// The bytes of a constant at `at`; false where it holds an address.
bool write_bytes(const llvm::Constant* c, const llvm::DataLayout& layout, std::string& into,
                 std::size_t at) {
    if (c->isNullValue() || llvm::isa<llvm::UndefValue>(c)) return true;
    if (const auto* whole = llvm::dyn_cast<llvm::ConstantDataSequential>(c)) {
        llvm::StringRef raw = whole->getRawDataValues();
        into.replace(at, raw.size(), raw.data(), raw.size());
        return true;
    }
    if (llvm::isa<llvm::ConstantAggregate>(c)) {
        auto* structure = llvm::dyn_cast<llvm::StructType>(c->getType());
        for (unsigned k = 0; k < c->getNumOperands(); ++k) {
            const auto* item = llvm::cast<llvm::Constant>(c->getOperand(k));
            std::size_t offset =
                structure ? layout.getStructLayout(structure)->getElementOffset(k).getFixedValue()
                          : k * layout.getTypeAllocSize(item->getType()).getFixedValue();
            if (!write_bytes(item, layout, into, at + offset)) return false;
        }
        return true;
    }
    const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(c);
    const auto* real = llvm::dyn_cast<llvm::ConstantFP>(c);
    if (!integer && !real) return false;
    llvm::APInt bits = integer ? integer->getValue() : real->getValueAPF().bitcastToAPInt();
    std::size_t size = layout.getTypeStoreSize(c->getType()).getFixedValue();
    const auto* raw = reinterpret_cast<const char*>(bits.getRawData());
    into.replace(at, size, raw, size);  // processors that we have are little-endian
    return true;
}

/// A table of functions or texts, say, whose author did not write const; it becomes constant.
bool is_never_written(llvm::GlobalVariable& v) {
    llvm::GlobalStatus uses;
    bool is_constant = v.hasLocalLinkage() && !v.isThreadLocal() &&
                       !llvm::GlobalStatus::analyzeGlobal(&v, uses) &&
                       uses.StoredType == llvm::GlobalStatus::NotStored;
    if (is_constant) v.setConstant(true);
    return is_constant;
}

/// Has the function of this name, which the loader of the text calls once, store what the variable
/// begins with: addresses are known when code is loaded.
void store_at_start(llvm::Module& module, llvm::GlobalVariable& v) {
    llvm::Function* f = module.getFunction(start_function);
    if (!f) {
        auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), false);
        f = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, start_function,
                                   module);
        llvm::IRBuilder<>(llvm::BasicBlock::Create(module.getContext(), "entry", f))
            .CreateRetVoid();
    }
    auto* held =
        new llvm::GlobalVariable(module, v.getValueType(), true, llvm::GlobalValue::InternalLinkage,
                                 v.getInitializer(), v.getName() + ".begins");
    held->setAlignment(v.getAlign());
    llvm::IRBuilder<> at(f->getEntryBlock().getTerminator());
    std::uint64_t size = module.getDataLayout().getTypeAllocSize(v.getValueType()).getFixedValue();
    at.CreateMemCpy(&v, v.getAlign(), held, held->getAlign(), size);
}

/// Variables that change live outside of the code, which names them: so they outlive a call, and
/// all functions that the text is inlined into share them.
void take_variables_out(llvm::Module& module, const std::string& prefix, CResult& result) {
    std::map<std::string, CVariable> known;
    for (CVariable& v : result.variables) known.emplace(v.name, std::move(v));
    result.variables.clear();
    std::vector<llvm::GlobalVariable*> all;
    for (llvm::GlobalVariable& v : module.globals()) all.push_back(&v);
    for (llvm::GlobalVariable* each : all) {
        llvm::GlobalVariable& v = *each;
        if (v.isConstant() || v.isDeclaration()) continue;
        CVariable made;
        made.name = v.getName().str();
        if (auto found = known.find(made.name); found != known.end()) made = found->second;
        const llvm::DataLayout& layout = module.getDataLayout();
        made.initial.assign(layout.getTypeAllocSize(v.getValueType()).getFixedValue(), '\0');
        if (v.isThreadLocal()) {
            if (is_never_written(v)) continue;
            result.refused += (result.refused.empty() ? "" : ", ") + made.name;
            continue;
        }
        if (!write_bytes(v.getInitializer(), layout, made.initial, 0)) {
            if (is_never_written(v)) continue;
            std::fill(made.initial.begin(), made.initial.end(), '\0');
            store_at_start(module, v);
        }
        made.symbol = prefix + made.name;
        v.setInitializer(nullptr);
        v.setLinkage(llvm::GlobalValue::ExternalLinkage);
        v.setVisibility(llvm::GlobalValue::DefaultVisibility);
        v.setDSOLocal(false);
        v.setComdat(nullptr);
        v.setName(made.symbol);
        result.variables.push_back(std::move(made));
    }
}

/// The loader takes no groups of sections that other objects might have, too; and nobody would run
/// what makes objects before the first call.
void make_internal(llvm::Module& module, CResult& result) {
    if (module.getNamedGlobal("llvm.global_ctors"))
        result.refused = "objects of classes, which are made before the first call";
    for (const char* name : {"llvm.global_ctors", "llvm.global_dtors"}) {
        if (llvm::GlobalVariable* v = module.getNamedGlobal(name)) v->eraseFromParent();
    }
    for (llvm::GlobalVariable& v : module.globals()) {
        if (v.isDeclaration() || v.hasLocalLinkage() || !v.isConstant()) continue;
        v.setComdat(nullptr);
        v.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
    for (llvm::Function& f : module) {
        if (f.isDeclaration()) continue;
        f.setComdat(nullptr);
        if (!f.getName().starts_with(cpp_prefix) && !f.hasLocalLinkage())
            f.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
}

/// Where g++ looks for headers: those of the C++ library, then of C.
std::vector<std::string> system_folders() {
    namespace fs = std::filesystem;
    std::error_code ignored;
    std::string newest;
    int version = 0;
    for (const auto& entry : fs::directory_iterator("/usr/include/c++", ignored)) {
        int v = std::atoi(entry.path().filename().c_str());
        if (v > version) {
            version = v;
            newest = entry.path().filename().string();
        }
    }
    if (newest.empty()) return {};
    std::string cpp = "/usr/include/c++/" + newest;
    return {cpp,
            "/usr/include/x86_64-linux-gnu/c++/" + newest,
            cpp + "/x86_64-linux-gnu",
            header_folder,
            "/usr/include/x86_64-linux-gnu",
            "/usr/include"};
}

/// The text and our headers over the disk's files.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files(const CText& text, const std::string& main) {
    auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
    for (const Header& h : standard_headers()) {
        std::string path = std::string(header_folder) + "/" + h.name, name = h.name;
        if (text.uses_system) {
            // What compilers bring along.
            bool is_wanted = name == "stddef.h" || name == "stdarg.h" || name == "stdbool.h" ||
                             name == "stdalign.h" || name == "float.h" || name == "limits.h";
            if (!is_wanted) continue;
            if (name == "limits.h") {
                memory->addFile(
                    path, 0,
                    llvm::MemoryBuffer::getMemBufferCopy(
                        "#pragma once\n#define _GCC_LIMITS_H_\n#include_next <limits.h>\n" +
                        std::string(h.text).substr(std::string_view(h.text).find('\n') + 1)));
                continue;
            }
        }
        if (text.is_cpp)
            memory->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(header_for_cpp(h)));
        else
            memory->addFile(path, 0, llvm::MemoryBuffer::getMemBuffer(h.text));
    }
    if (!text.is_cpp) {
        for (const Header& h : more_headers())
            memory->addFile(std::string(header_folder) + "/" + h.name, 0,
                            llvm::MemoryBuffer::getMemBuffer(h.text));
    }
    if (text.is_cpp && !text.uses_system) {
        for (const Header& h : cpp_headers())
            memory->addFile(std::string(header_folder) + "/" + h.name, 0,
                            llvm::MemoryBuffer::getMemBuffer(h.text));
    }
    std::string whole = "#line 1 \"" + text.file + "\"\n" + text.text + "\n";
    if (!text.declarations.empty())
        whole += "#line 1 \"" + std::string(declarations_file) + "\"\n" + text.declarations + "\n";
    memory->addFile(main, 0, llvm::MemoryBuffer::getMemBufferCopy(whole));
    auto all =
        llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
    all->pushOverlay(memory);
    return all;
}

void compile(const CText& text, CResult& result) {
    std::error_code ignored;
    std::filesystem::path given(text.file);
    bool is_file = std::filesystem::exists(given, ignored);
    std::string main = is_file ? std::filesystem::absolute(given, ignored).parent_path().string() +
                                     "/.unisono_text.c"
                               : "/unisono/text.c";
    if (text.is_cpp) main += "pp";
    std::string folder = std::string("-I") + header_folder, triple = llvm::sys::getProcessTriple();
    std::vector<std::string> own{"-triple",
                                 triple,
                                 text.is_cpp ? "-std=c++17" : "-std=c11",
                                 "-O2",
                                 "-disable-llvm-passes",
                                 "-ffp-contract=off",
                                 "-mrelocation-model",
                                 "pic",
                                 "-pic-level",
                                 "2",
                                 "-nostdsysteminc",
                                 "-nobuiltininc",
                                 "-fwrapv",
                                 "-x",
                                 text.is_cpp ? "c++" : "c"};
    if (text.is_cpp) {
        // Exceptions that are not caught here end in guard_cpp.
        own.insert(own.end(), {"-funwind-tables=2", "-fexceptions", "-fcxx-exceptions", "-fno-rtti",
                               "-fno-threadsafe-statics", "-nostdinc++"});
    }
    // C99's rules give no code to a function that is inline alone.
    if (!text.is_cpp) own.push_back("-fgnu89-inline");
    // Declarations may refer to static functions, which are not called here.
    if (!text.declarations.empty()) own.push_back("-femit-all-decls");
    for (const std::string& f : text.folders) own.push_back("-I" + f);
    for (const std::string& m : text.macros) own.push_back("-D" + m);
    if (text.uses_system) {
        own.push_back("-fgnuc-version=4.2.1");  // headers of g++ ask for what comes with it
        for (const std::string& f : system_folders()) own.insert(own.end(), {"-isystem", f});
    } else {
        own.push_back(folder);
    }
    own.push_back(main);
    std::vector<const char*> arguments;
    for (const std::string& a : own) arguments.push_back(a.c_str());

    auto refuse = [&](std::string why) {
        result.failed = true;
        result.error = text.is_cpp ? "cpp_module: the C++ text does not compile\n" + why
                                   : "c_module: the C text does not compile\n" + why;
        while (result.error.ends_with('\n')) result.error.pop_back();
    };
    if (may_be_long(text)) {
        clang::CompilerInstance counting;
        counting.createFileManager(files(text, main));
        counting.createDiagnostics(new clang::IgnoringDiagConsumer);
        std::string found;
        if (clang::CompilerInvocation::CreateFromArgs(counting.getInvocation(), arguments,
                                                      counting.getDiagnostics()))
            found = long_statement(counting);
        if (!found.empty()) return refuse(found);
    }

    std::string messages;
    llvm::raw_string_ostream stream(messages);
    llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(new clang::DiagnosticOptions);
    options->ShowColors = false;
    options->ShowPresumedLoc = true;  // the lines of the text as its author counts them
    auto* printer = new clang::TextDiagnosticPrinter(stream, options.get());
    clang::CompilerInstance compiler;
    auto system = files(text, main);
    compiler.createFileManager(system);
    compiler.setVerboseOutputStream(llvm::nulls());
    llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diagnostics(
        new clang::DiagnosticsEngine(new clang::DiagnosticIDs, options, printer));
    diagnostics->setIgnoreAllWarnings(true);  // they would be shown beside errors only
    bool ok = clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(), arguments,
                                                        *diagnostics);
    compiler.setDiagnostics(diagnostics.get());
    llvm::LLVMContext context;
    Action action(context, result, text);
    ok = ok && compiler.ExecuteAction(action);
    std::unique_ptr<llvm::Module> module = ok ? action.takeModule() : nullptr;
    if (!module || diagnostics->hasErrorOccurred()) {
        return refuse(stream.str());
    }
    if (text.is_cpp) {
        make_internal(*module, result);
    } else {
        find_effects(*module, result);
        for (const CFunction& f : result.functions) {  // linking drops static ones
            llvm::Function* code = module->getFunction(f.name);
            if (code && code->hasLocalLinkage())
                code->setLinkage(llvm::GlobalValue::ExternalLinkage);
        }
    }
    take_variables_out(*module, text.prefix, result);
    if (module->getFunction(start_function)) {
        CFunction& start = result.functions.emplace_back();
        start.name = start_function;
        start.result.spelling = "void";
    }
    llvm::raw_string_ostream bitcode(result.bitcode);
    llvm::WriteBitcodeToFile(*module, bitcode);
}

}  // namespace

}  // namespace unisono::codegen

extern "C" void unisono_clang_compile(const unisono::codegen::CText& text,
                                      unisono::codegen::CResult& result) noexcept {
    try {
        unisono::run_apart([&] { unisono::codegen::compile(text, result); },
                           unisono::codegen::compiler_stack);
    } catch (const std::bad_alloc&) {
        result.failed = true;
        result.error = "c_module: out of memory while compiling the text";
    } catch (const std::exception& error) {
        result.failed = true;
        result.error = std::string("c_module: ") + error.what();
    }
}
