// Reads signatures, structs, classes and constants off the syntax tree of a C or C++ text.
#pragma once

#include <clang/AST/ASTConsumer.h>

#include <memory>

#include "backends/codegen/c_text.h"

namespace unisono::codegen {

inline constexpr const char* header_folder = "/unisono/include";
inline constexpr const char* declarations_file = "cdef";

/// What Python puts around functions of C++.
inline constexpr const char* cpp_prefix = "unisono_cpp_";

std::unique_ptr<clang::ASTConsumer> make_collector(CResult& result, const CText& given);

}  // namespace unisono::codegen
