// What constant variables of C text hold.
#pragma once

#include "backends/codegen/c_text.h"

namespace clang {
class ASTContext;
class VarDecl;
}  // namespace clang

namespace unisono::codegen {

/// Whether the variable can never change; then its bytes, or the texts that it points to, are set
/// where they are known.
bool take_constant(const clang::ASTContext& context, const clang::VarDecl& v, CVariable& into);

}  // namespace unisono::codegen
