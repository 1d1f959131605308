// Reports what C text may not contain as errors of clang, at their lines.
#pragma GCC diagnostic ignored "-Wnonnull"  // in clang's iterators of declarations, inlined

#include "backends/clang/limits.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace unisono::codegen {

namespace {

/// A fatal error: clang goes on to generate code after others.
void report(clang::CompilerInstance& compiler, clang::SourceLocation at, const std::string& text) {
    clang::DiagnosticsEngine& diagnostics = compiler.getDiagnostics();
    unsigned id = diagnostics.getDiagnosticIDs()->getCustomDiagID(clang::DiagnosticIDs::Fatal,
                                                                  llvm::StringRef(text));
    diagnostics.Report(at, id);
}

class SizeLimits final : public clang::ASTConsumer, public clang::RecursiveASTVisitor<SizeLimits> {
  public:
    explicit SizeLimits(clang::CompilerInstance& compiler) : compiler_(compiler) {}

    /// False, which hides the declaration from other consumers, if a variable in it is too large.
    bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
        for (clang::Decl* d : group) {
            // Headers of the system have none, and are long.
            if (!compiler_.getSourceManager().isInSystemHeader(d->getLocation())) TraverseDecl(d);
        }
        return total_ <= most_variable_bytes;
    }

    bool VisitVarDecl(clang::VarDecl* v) {
        clang::QualType type = v->getType();
        if (!v->hasGlobalStorage() || type->isDependentType() || type->isIncompleteType() ||
            type->isReferenceType() || v->isThisDeclarationADefinition() == v->DeclarationOnly)
            return true;
        auto size =
            static_cast<std::uint64_t>(v->getASTContext().getTypeSizeInChars(type).getQuantity());
        const bool overflows = size > most_variable_bytes;
        total_ += overflows ? most_variable_bytes + 1 : size;
        if (total_ <= most_variable_bytes) return true;
        report(compiler_, v->getLocation(),
               "the variable '" + v->getNameAsString() +
                   "' makes the variables of this text too large; got " + std::to_string(size) +
                   " bytes; expected at most " + std::to_string(most_variable_bytes) +
                   " for all together; pass the memory as an argument, or call malloc");
        return false;
    }

  private:
    clang::CompilerInstance& compiler_;
    std::uint64_t total_ = 0;
};

class Limits final : public clang::ASTConsumer {
  public:
    Limits(clang::CompilerInstance& compiler, clang::CodeGenAction& action)
        : compiler_(compiler), action_(action) {}

    void HandleTranslationUnit(clang::ASTContext& context) override {
        if (compiler_.getDiagnostics().hasErrorOccurred()) return;
        clang::CodeGenerator* generator = action_.getCodeGenerator();
        const llvm::Module* module = generator ? generator->GetModule() : nullptr;
        if (!module) return;
        for (const llvm::Function& f : *module) refuse_assembly(f);
        for (const clang::Decl* d : context.getTranslationUnitDecl()->decls()) {
            if (llvm::isa<clang::FileScopeAsmDecl>(d))
                report(compiler_, d->getLocation(), assembly);
        }
    }

  private:
    static constexpr const char* assembly =
        "inline assembly cannot be compiled; write it in C, or call a function of a library that "
        "contains it (libraries=[...])";

    /// Without a text it is a barrier for the compiler, which needs no assembler.
    void refuse_assembly(const llvm::Function& f) {
        for (const llvm::Instruction& i : llvm::instructions(f)) {
            const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
            if (!call || !call->isInlineAsm()) continue;
            if (llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString().empty())
                continue;
            clang::SourceLocation at;
            if (const llvm::MDNode* place = i.getMetadata("srcloc")) {
                if (auto* raw = llvm::mdconst::dyn_extract<llvm::ConstantInt>(place->getOperand(0)))
                    at = clang::SourceLocation::getFromRawEncoding(
                        static_cast<clang::SourceLocation::UIntTy>(raw->getZExtValue()));
            }
            report(compiler_, at, assembly);
        }
    }

    clang::CompilerInstance& compiler_;
    clang::CodeGenAction& action_;
};

/// Counts the tokens that one statement, or one item of an initialiser, consists of.
class Counter final : public clang::PreprocessorFrontendAction {
  public:
    std::string found;

  protected:
    void ExecuteAction() override {
        clang::Preprocessor& preprocessor = getCompilerInstance().getPreprocessor();
        preprocessor.IgnorePragmas();
        preprocessor.EnterMainSourceFile();
        clang::Token token;
        for (preprocessor.Lex(token); token.isNot(clang::tok::eof); preprocessor.Lex(token)) {
            const char* what = take(token.getKind());
            if (!what) continue;
            const clang::SourceManager& sources = preprocessor.getSourceManager();
            clang::PresumedLoc at =
                sources.getPresumedLoc(sources.getExpansionLoc(token.getLocation()));
            if (at.isValid())
                found = std::string(at.getFilename()) + ":" + std::to_string(at.getLine()) + ":" +
                        std::to_string(at.getColumn()) + ": ";
            found += "error: " + std::string(what);
            return;
        }
    }

  private:
    enum class Bracket : std::uint8_t { Block, List, Round };
    struct Level {
        Bracket kind;
        std::size_t elses = 0;  ///< of the chain of `else if` that goes on
    };

    static bool begins_block(clang::tok::TokenKind before) {
        using namespace clang::tok;
        return before == r_paren || before == semi || before == r_brace || before == colon ||
               before == kw_else || before == kw_do || before == kw_try || before == unknown;
    }

    /// Returns what is too long with this token, else null.
    const char* take(clang::tok::TokenKind kind) {
        using namespace clang::tok;
        const bool has_ended = before_ == semi || before_ == r_brace;
        if (has_ended && kind != kw_else) levels_.back().elses = 0;
        if (kind == kw_else && ++levels_.back().elses > most_elses)
            return "a chain of more than 5000 `else if` cannot be compiled; use a switch or a "
                   "table";
        if (kind == l_brace) {
            bool is_block = begins_block(before_) ||
                            (before_ == l_brace && levels_.back().kind == Bracket::Block);
            levels_.push_back({is_block ? Bracket::Block : Bracket::List});
        } else if (kind == l_paren || kind == l_square) {
            levels_.push_back({Bracket::Round});
        } else if ((kind == r_brace || kind == r_paren || kind == r_square) && levels_.size() > 1) {
            levels_.pop_back();
        }
        const bool is_item = kind == comma && levels_.back().kind == Bracket::List;
        before_ = kind;
        tokens_ = kind == semi || kind == r_brace || is_item ? 0 : tokens_ + 1;
        static_assert(most_tokens == 50'000);
        return tokens_ > most_tokens
                   ? "a statement of more than 50000 tokens (macros expanded) cannot be compiled; "
                     "split it"
                   : nullptr;
    }

    static constexpr std::size_t most_elses = 5'000;
    std::vector<Level> levels_{{Bracket::Block}};
    clang::tok::TokenKind before_ = clang::tok::unknown;
    std::size_t tokens_ = 0;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> make_size_limits(clang::CompilerInstance& compiler) {
    return std::make_unique<SizeLimits>(compiler);
}

std::unique_ptr<clang::ASTConsumer> make_limits(clang::CompilerInstance& compiler,
                                                clang::CodeGenAction& action) {
    return std::make_unique<Limits>(compiler, action);
}

bool may_be_long(const CText& text) {
    return text.text.size() + text.declarations.size() >= most_tokens || !text.macros.empty() ||
           !text.folders.empty() || text.text.find("define") != std::string::npos ||
           text.declarations.find("define") != std::string::npos;
}

std::string long_statement(clang::CompilerInstance& compiler) {
    Counter counter;
    compiler.ExecuteAction(counter);
    return counter.found;
}

}  // namespace unisono::codegen
