// Compiles C text in memory: an invocation of clang's front end over a file system that holds the
// text and our headers.
//
// Two passes over nothing: one parse feeds the code generator and a collector of signatures. The
// bitcode is not optimised here; that happens where it is linked into a kernel.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/RecordLayout.h>
#include <clang/Basic/SourceManager.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <filesystem>
#include <map>
#include <set>

#include "backends/clang/headers.h"
#include "backends/codegen/c_text.h"

namespace unisono::codegen {

namespace {

constexpr const char* header_folder = "/unisono/include";
constexpr const char* declarations_file = "cdef";

CType::Kind kind_of(clang::QualType t) {
    if (t->isVoidType()) return CType::Kind::Void;
    if (t->isBooleanType()) return CType::Kind::Bool;
    if (t->isIntegralOrEnumerationType()) return CType::Kind::Integer;
    if (t->isSpecificBuiltinType(clang::BuiltinType::Float) ||
        t->isSpecificBuiltinType(clang::BuiltinType::Double))
        return CType::Kind::Float;
    return t->isPointerType() ? CType::Kind::Pointer : CType::Kind::Other;
}

int bytes_of(const clang::ASTContext& context, clang::QualType t) {
    if (t->isVoidType() || t->isFunctionType() || t->isIncompleteType()) return 0;
    return static_cast<int>(context.getTypeSizeInChars(t).getQuantity());
}

/// The name that C text calls a struct by, without the word.
std::string record_name(clang::QualType t) {
    const auto* record = t->getAs<clang::RecordType>();
    if (!record) return {};
    const clang::RecordDecl* d = record->getDecl();
    if (const auto* name = d->getTypedefNameForAnonDecl()) return name->getNameAsString();
    return d->getNameAsString();
}

CType describe(const clang::ASTContext& context, clang::QualType t) {
    CType made;
    made.spelling = t.getAsString();
    t = t.getCanonicalType();
    made.kind = kind_of(t);
    made.bytes = bytes_of(context, t);
    made.is_signed = t->isSignedIntegerOrEnumerationType();
    made.record = record_name(t->isPointerType() ? t->getPointeeType() : t);
    if (made.kind == CType::Kind::Pointer) {
        clang::QualType target = t->getPointeeType();
        made.target = kind_of(target);
        if (made.target == CType::Kind::Pointer) made.target = CType::Kind::Other;
        made.target_bytes = bytes_of(context, target);
        made.target_signed = target->isSignedIntegerOrEnumerationType();
        made.target_const = target.isConstQualified();
        made.target_function = target->isFunctionType();
        if (made.target_function) made.spelling = t.getAsString();  // not a name of the text's
    }
    return made;
}

/// Notes what the text defines and what its declarations ask for.
class Collector final : public clang::ASTConsumer {
  public:
    Collector(CResult& result, bool has_declarations)
        : result_(result), has_declarations_(has_declarations) {}

    void Initialize(clang::ASTContext& context) override { context_ = &context; }

    bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
        for (clang::Decl* d : group) {
            if (auto* f = llvm::dyn_cast<clang::FunctionDecl>(d)) function(*f);
            if (auto* v = llvm::dyn_cast<clang::VarDecl>(d)) variable(*v);
            if (auto* e = llvm::dyn_cast<clang::EnumDecl>(d)) enumeration(*e);
            if (auto* r = llvm::dyn_cast<clang::RecordDecl>(d)) structure(*r);
        }
        return true;
    }

  private:
    std::string file_of(const clang::Decl& d) const {
        clang::PresumedLoc at = context_->getSourceManager().getPresumedLoc(d.getLocation());
        return at.isValid() ? at.getFilename() : "";
    }
    bool is_of_header(const clang::Decl& d) const {
        return llvm::StringRef(file_of(d)).starts_with(header_folder);
    }

    void function(const clang::FunctionDecl& f) {
        bool declared = file_of(f) == declarations_file;
        bool wanted = has_declarations_
                          ? declared
                          : f.isThisDeclarationADefinition() && f.isExternallyVisible();
        if (!wanted || !seen_.insert(f.getNameAsString()).second) return;
        CFunction made;
        made.name = f.getNameAsString();
        made.result = describe(*context_, f.getReturnType());
        made.is_variadic = f.isVariadic();
        made.line =
            static_cast<int>(context_->getSourceManager().getPresumedLineNumber(f.getLocation()));
        for (const clang::ParmVarDecl* p : f.parameters()) {
            made.params.push_back(describe(*context_, p->getType()));
            made.param_names.push_back(p->getNameAsString());
        }
        result_.functions.push_back(std::move(made));
    }

    /// What can be given away; which of these the text defines, and how they begin, its code says.
    void variable(const clang::VarDecl& v) {
        bool wanted = has_declarations_ ? file_of(v) == declarations_file : !is_of_header(v);
        if (!wanted || !v.isExternallyVisible()) return;
        CVariable made;
        made.name = v.getNameAsString();
        made.is_visible = true;
        clang::QualType t = v.getType();
        while (const auto* array = context_->getAsConstantArrayType(t)) {
            made.extents.push_back(static_cast<long long>(array->getSize().getZExtValue()));
            t = array->getElementType();
        }
        made.type = describe(*context_, t);
        result_.variables.push_back(std::move(made));
    }

    void structure(const clang::RecordDecl& given) {
        const clang::RecordDecl* r = given.getDefinition();
        if (!r || is_of_header(*r) || r->isInvalidDecl()) return;
        CStruct made;
        made.name = record_name(context_->getRecordType(r));
        if (made.name.empty()) return;
        made.size = bytes_of(*context_, context_->getRecordType(r));
        made.is_plain = r->isStruct();
        const clang::ASTRecordLayout& layout = context_->getASTRecordLayout(r);
        for (const clang::FieldDecl* f : r->fields()) {
            made.is_plain = made.is_plain && !f->isBitField() && !f->getName().empty();
            CField field;
            field.name = f->getNameAsString();
            field.offset = static_cast<long long>(layout.getFieldOffset(f->getFieldIndex()) / 8);
            clang::QualType t = f->getType();
            while (const auto* array = context_->getAsConstantArrayType(t)) {
                field.extents.push_back(static_cast<long long>(array->getSize().getZExtValue()));
                t = array->getElementType();
            }
            field.type = describe(*context_, t);
            made.fields.push_back(std::move(field));
        }
        result_.structs.push_back(std::move(made));
    }

    void enumeration(const clang::EnumDecl& e) {
        if (is_of_header(e)) return;
        for (const clang::EnumConstantDecl* c : e.enumerators())
            result_.constants.push_back({c->getNameAsString(), c->getInitVal().getExtValue()});
    }

    CResult& result_;
    bool has_declarations_;
    clang::ASTContext* context_ = nullptr;
    std::set<std::string> seen_;
};

class Action final : public clang::EmitLLVMOnlyAction {
  public:
    Action(llvm::LLVMContext& context, CResult& result, bool has_declarations)
        : EmitLLVMOnlyAction(&context), result_(result), has_declarations_(has_declarations) {}

  protected:
    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                          llvm::StringRef file) override {
        std::vector<std::unique_ptr<clang::ASTConsumer>> both;
        both.push_back(std::make_unique<Collector>(result_, has_declarations_));
        both.push_back(EmitLLVMOnlyAction::CreateASTConsumer(compiler, file));
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
    bool has_declarations_;
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

/// Variables that change live outside of the code, which names them: so they outlive a call, and
/// all functions that the text is inlined into share them.
void take_variables_out(llvm::Module& module, const std::string& prefix, CResult& result) {
    std::map<std::string, CVariable> known;
    for (CVariable& v : result.variables) known.emplace(v.name, std::move(v));
    result.variables.clear();
    for (llvm::GlobalVariable& v : module.globals()) {
        if (v.isConstant() || v.isDeclaration()) continue;
        CVariable made;
        made.name = v.getName().str();
        if (auto found = known.find(made.name); found != known.end()) made = found->second;
        const llvm::DataLayout& layout = module.getDataLayout();
        made.initial.assign(layout.getTypeAllocSize(v.getValueType()).getFixedValue(), '\0');
        if (v.isThreadLocal() || !write_bytes(v.getInitializer(), layout, made.initial, 0)) {
            result.refused += (result.refused.empty() ? "" : ", ") + made.name;
            continue;
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

/// Notes the functions of numbers that read and write nothing but their own variables.
void find_pure(const llvm::Module& module, CResult& result) {
    auto takes_numbers = [](const CFunction& f) {
        return !f.is_variadic && !f.params.empty() &&
               std::all_of(f.params.begin(), f.params.end(), [](const CType& t) {
                   return t.kind != CType::Kind::Pointer && t.kind != CType::Kind::Other;
               });
    };
    if (std::none_of(result.functions.begin(), result.functions.end(), takes_numbers)) return;
    auto copy = llvm::CloneModule(module);
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    llvm::ModulePassManager passes;
    if (llvm::Error error =
            builder.parsePassPipeline(passes, "function(sroa),cgscc(function-attrs)")) {
        llvm::consumeError(std::move(error));
        return;
    }
    passes.run(*copy, modules);
    for (CFunction& f : result.functions) {
        const llvm::Function* code = copy->getFunction(f.name);
        f.is_pure = takes_numbers(f) && code && code->doesNotAccessMemory();
    }
}

/// The text and our headers over the disk's files.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files(const CText& text, const std::string& main) {
    auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
    for (const Header& h : standard_headers()) {
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
    std::string folder = std::string("-I") + header_folder, triple = llvm::sys::getProcessTriple();
    std::vector<std::string> own{"-triple",
                                 triple,
                                 "-std=c11",
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
                                 "-Wall",
                                 "-Wno-unused",
                                 "-Wno-ignored-qualifiers",
                                 "-x",
                                 "c"};
    for (const std::string& f : text.folders) own.push_back("-I" + f);
    for (const std::string& m : text.macros) own.push_back("-D" + m);
    own.push_back(folder);
    own.push_back(main);
    std::vector<const char*> arguments;
    for (const std::string& a : own) arguments.push_back(a.c_str());

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
    bool ok = clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(), arguments,
                                                        *diagnostics);
    compiler.setDiagnostics(diagnostics.get());
    llvm::LLVMContext context;
    Action action(context, result, !text.declarations.empty());
    ok = ok && compiler.ExecuteAction(action);
    std::unique_ptr<llvm::Module> module = ok ? action.takeModule() : nullptr;
    if (!module || diagnostics->hasErrorOccurred()) {
        result.failed = true;
        result.error = "c_module: the C text does not compile\n" + stream.str();
        while (result.error.ends_with('\n')) result.error.pop_back();
        return;
    }
    find_pure(*module, result);
    take_variables_out(*module, text.prefix, result);
    llvm::raw_string_ostream bitcode(result.bitcode);
    llvm::WriteBitcodeToFile(*module, bitcode);
}

}  // namespace

}  // namespace unisono::codegen

extern "C" void unisono_clang_compile(const unisono::codegen::CText& text,
                                      unisono::codegen::CResult& result) noexcept {
    try {
        unisono::codegen::compile(text, result);
    } catch (const std::exception& error) {
        result.failed = true;
        result.error = std::string("c_module: ") + error.what();
    }
}
