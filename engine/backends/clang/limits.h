// What C text may not contain, since LLVM would end the process or the stack would not suffice.
#pragma once

#include <clang/AST/ASTConsumer.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>

#include <memory>
#include <string>

#include "backends/codegen/c_text.h"

namespace unisono::codegen {

/// Tokens of one statement: the parser and the passes recurse over the expressions that they make.
inline constexpr std::size_t most_tokens = 50'000;
/// Bytes of all variables of a text.
inline constexpr std::uint64_t most_variable_bytes = std::uint64_t{2} << 30;
/// Stack of the thread that compiles; it suffices for most_tokens.
inline constexpr std::size_t compiler_stack = std::size_t{512} << 20;

/// Reports variables that are too large, before code is generated for them.
std::unique_ptr<clang::ASTConsumer> make_size_limits(clang::CompilerInstance& compiler);

/// Reports inline assembly at its line. It looks at the module that the action has made, so it
/// comes after the action's own consumer.
std::unique_ptr<clang::ASTConsumer> make_limits(clang::CompilerInstance& compiler,
                                                clang::CodeGenAction& action);

/// Whether a statement might have more tokens than most_tokens.
bool may_be_long(const CText& text);

/// Expands the macros and counts. Returns clang's message for the first statement that is too long,
/// else nothing.
std::string long_statement(clang::CompilerInstance& compiler);

}  // namespace unisono::codegen
