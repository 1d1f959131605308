// The interface of the clang plugin: C text in, LLVM bitcode and the signatures of its functions
// out. No header of clang is needed to use it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace unisono::codegen {

/// A type as C declares it.
struct CType {
    enum class Kind : unsigned char { Void, Bool, Integer, Float, Complex, Pointer, Other };
    Kind kind = Kind::Void;
    int bytes = 0;
    bool is_signed = false;
    // Of what a pointer points to; of arrays, what their elements are:
    Kind target = Kind::Void;  ///< Other for structs and pointers
    int target_bytes = 0;
    bool target_signed = false;
    bool target_const = false;
    bool target_function = false;  ///< a pointer to a function
    bool is_wide = false;          ///< long double
    bool is_reference = false;     ///< C++: written as a reference, told as a pointer
    std::string record;            ///< the struct's name, of the type or of what it points to
    std::string spelling;
};

struct CField {
    std::string name;
    CType type;  ///< of the field, or of the elements of an array
    std::vector<long long> extents;
    long long offset = 0;
    int bits = 0;       ///< of a bit-field; 0 of others
    int first_bit = 0;  ///< of a bit-field, from `offset`
};

/// A struct that the text defines.
struct CStruct {
    std::string name;
    long long size = 0;
    std::vector<CField> fields;
    bool is_plain = true;  ///< no union, and all fields have names
};

struct CFunction {
    std::string name;
    CType result;
    std::vector<CType> params;
    std::vector<std::string> param_names;
    bool is_variadic = false;
    bool is_pure = false;   ///< its result depends on its arguments alone, and it changes nothing
    bool is_short = false;  ///< calls are over at once: nothing repeats or waits
    int line = 0;
};

/// A function or method of C++.
struct CppFunction {
    std::string name, qualified;  ///< area, geometry::area
    CType result;
    std::vector<CType> params;
    std::vector<std::string> param_names;
    int defaults = 0;  ///< so many of the last parameters may be left out
    bool is_static = false, may_throw = true;
};

struct CppClass {
    std::string name;                  ///< geometry::Shape
    std::string base;                  ///< a public one, at the same address; or empty
    std::vector<CppFunction> makers;   ///< public constructors, none of a class that is abstract
    std::vector<CppFunction> methods;  ///< public ones, those of bases among them
    std::vector<CField> fields;
    bool can_delete = true;
};

/// A variable that changes: static, or of the whole text.
struct CVariable {
    std::string name;     ///< as the text has it
    std::string symbol;   ///< as code names it
    std::string initial;  ///< its bytes when the text is loaded
    CType type;           ///< of the variable, or of the elements of an array
    std::vector<long long> extents;
    bool is_visible = false;                        ///< not static: given away
    std::vector<std::optional<std::string>> texts;  ///< of pointers that cannot change
};

struct CText {
    std::string text;
    std::string file;  ///< how messages name it; of an existing file, whose folder is searched
    std::string declarations;          ///< functions to give away; empty: all that the text defines
    std::vector<std::string> folders;  ///< searched for headers
    std::vector<std::string> macros;   ///< "NAME=value"
    std::string prefix;                ///< of the symbols of its variables
    bool is_cpp = false;
    bool uses_system = false;  ///< C++: the headers that g++ finds, in place of ours
};

struct CConstant {
    std::string name;
    long long value;
};

struct CResult {
    std::string bitcode;
    std::vector<CFunction> functions;
    std::vector<CConstant> constants;  ///< of enumerations
    std::vector<CVariable> variables;
    std::vector<CVariable> fixed;  ///< those that cannot change: bytes or texts
    std::vector<CStruct> structs;
    std::vector<CppFunction> cpp_functions;  ///< of C++, without methods
    std::vector<CppClass> cpp_classes;
    std::vector<std::pair<std::string, std::string>> macros;  ///< of constants: name and text
    std::string
        refused;  ///< names of variables that cannot be had: thread-local, or holding addresses
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

/// Memory for a variable, as long as the process: as that of a library. Its address.
void* add_variable(const CVariable& variable);

using CompileC = void (*)(const CText& text, CResult& result);
inline constexpr const char* compile_c_symbol = "unisono_clang_compile";

}  // namespace unisono::codegen
