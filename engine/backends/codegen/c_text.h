// The interface of the clang plugin: C text in, LLVM bitcode and the signatures of its functions
// out. No header of clang is needed to use it.
#pragma once

#include <string>
#include <vector>

namespace unisono::codegen {

/// A type as C declares it.
struct CType {
    enum class Kind : unsigned char { Void, Bool, Integer, Float, Pointer, Other };
    Kind kind = Kind::Void;
    int bytes = 0;
    bool is_signed = false;
    // Of what a pointer points to:
    Kind target = Kind::Void;  ///< Other for structs and pointers
    int target_bytes = 0;
    bool target_signed = false;
    bool target_const = false;
    std::string spelling;
};

struct CFunction {
    std::string name;
    CType result;
    std::vector<CType> params;
    std::vector<std::string> param_names;
    bool is_variadic = false;
    int line = 0;
};

struct CText {
    std::string text;
    std::string file;  ///< how messages name it; of an existing file, whose folder is searched
    std::string declarations;          ///< functions to give away; empty: all that the text defines
    std::vector<std::string> folders;  ///< searched for headers
    std::vector<std::string> macros;   ///< "NAME=value"
};

struct CConstant {
    std::string name;
    long long value;
};

struct CResult {
    std::string bitcode;
    std::vector<CFunction> functions;
    std::vector<CConstant> constants;  ///< of enumerations
    std::string globals;               ///< names of global variables that can change
    bool failed = false;
    std::string error;
};

/// Compiles C11 text; the standard headers are the engine's own. Throws Compile errors with clang's
/// messages, and Unsupported where the plugin is missing.
CResult compile_c(const CText& text);

/// Opens a shared library whose functions C text may call; it stays open.
void open_library(const std::string& path);
/// The address of a function of the C library, its mathematics, or an opened library; or null.
void* library_symbol(const char* name);

using CompileC = void (*)(const CText& text, CResult& result);
inline constexpr const char* compile_c_symbol = "unisono_clang_compile";

}  // namespace unisono::codegen
