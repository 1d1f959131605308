// Tells LLVM the user's lines: files, functions, a place per instruction. From these come DWARF,
// the lines of remarks and the .loc of assembly.
#include <llvm/IR/DebugInfoMetadata.h>

#include "backends/llvm/emitter.h"

namespace unisono::codegen {

void ModuleEmitter::begin_lines() {
    if (!target.want_lines) return;
    lines_ = std::make_unique<llvm::DIBuilder>(*out);
    out->addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
    out->addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
    for (const std::string& path : module.entry().files) {
        auto slash = path.rfind('/');
        files_.push_back(slash == std::string::npos
                             ? lines_->createFile(path, "")
                             : lines_->createFile(path.substr(slash + 1), path.substr(0, slash)));
    }
    if (files_.empty()) files_.push_back(lines_->createFile("unknown", ""));
    // Debuggers want the names of functions too; the text for people stays shorter without.
    auto kind =
        target.want_code ? llvm::DICompileUnit::FullDebug : llvm::DICompileUnit::LineTablesOnly;
    lines_->createCompileUnit(llvm::dwarf::DW_LANG_Python, files_.front(), "unisono", true, "", 0,
                              "", kind);
}

void ModuleEmitter::describe_function(llvm::Function* made, const ir::Function& f) {
    if (!lines_) return;
    ir::Line first;
    if (f.body) first = f.body->line;
    llvm::DIFile* file = files_.at(std::min<std::size_t>(first.file, files_.size() - 1));
    auto line = static_cast<unsigned>(std::max(first.line, 0));
    auto* type = lines_->createSubroutineType(lines_->getOrCreateTypeArray({}));
    made->setSubprogram(lines_->createFunction(
        file, made->getName().ends_with(".chunk") ? f.name + ".chunk" : f.name, "", file, line,
        type, line, llvm::DINode::FlagPrototyped,
        llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized));
}

llvm::DebugLoc ModuleEmitter::location(llvm::Function* in, ir::Line line) const {
    llvm::DISubprogram* scope = lines_ ? in->getSubprogram() : nullptr;
    if (!scope || line.line <= 0) return {};
    llvm::DILocalScope* at = scope;
    llvm::DIFile* file = files_.at(std::min<std::size_t>(line.file, files_.size() - 1));
    if (file != scope->getFile()) at = lines_->createLexicalBlockFile(scope, file);
    return llvm::DILocation::get(context, static_cast<unsigned>(line.line), line.column + 1u, at);
}

void ModuleEmitter::finish_lines() {
    if (lines_) lines_->finalize();
}

}  // namespace unisono::codegen
