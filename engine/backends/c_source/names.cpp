// Which identifiers C dialects reserve, and how a name is made free of them.
#include "backends/c_source/names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace unisono::c_source {

// Keywords and types of C, OpenCL C and CUDA C, and the built-in functions that the writer itself
// uses.
static constexpr std::array reserved = {
    "abs",        "alignas",    "alignof",   "asm",        "atomic_add", "atomic_sub", "atomic_min",
    "atomic_max", "atomic_and", "atomic_or", "atomic_xor", "atom_add",   "atom_min",   "atom_max",
    "auto",       "barrier",    "bool",      "break",      "case",       "catch",      "ceil",
    "char",       "class",      "complex",   "const",      "constant",   "continue",   "copysign",
    "default",    "defined",    "delete",    "do",         "double",     "else",       "enum",
    "event_t",    "exp",        "extern",    "fabs",       "false",      "float",      "floor",
    "fma",        "fmod",       "for",       "friend",     "generic",    "global",     "goto",
    "half",       "if",         "image2d_t", "image3d_t",  "imaginary",  "inline",     "int",
    "intptr_t",   "isnan",      "kernel",    "local",      "long",       "main",       "mutable",
    "namespace",  "new",        "operator",  "pipe",       "printf",     "private",    "protected",
    "ptrdiff_t",  "public",     "quad",      "read_only",  "read_write", "register",   "restrict",
    "return",     "sampler_t",  "short",     "signed",     "sin",        "size_t",     "sizeof",
    "sqrt",       "static",     "struct",    "switch",     "template",   "this",       "throw",
    "true",       "trunc",      "try",       "typedef",    "typeof",     "uchar",      "uint",
    "uintptr_t",  "ulong",      "uniform",   "union",      "unsigned",   "ushort",     "using",
    "virtual",    "void",       "volatile",  "wchar_t",    "while",      "write_only", "bool2",
};

/// True for vector types (float4), get_global_id and the like, macros, and our own helpers
/// (un_...).
static bool is_dialect_word(std::string_view n) {
    for (std::string_view start :
         {"un_", "get_", "as_", "convert_", "atomic_", "atom_", "native_", "__", "CL_", "CLK_",
          "M_", "cl_", "vload", "vstore", "INFINITY", "NAN", "NULL", "FLT_", "DBL_"}) {
        if (n.starts_with(start)) return true;
    }
    for (std::string_view type : {"char", "uchar", "short", "ushort", "int", "uint", "long",
                                  "ulong", "float", "double", "half"}) {
        if (n.starts_with(type) && n.size() > type.size() &&
            std::all_of(n.begin() + static_cast<std::ptrdiff_t>(type.size()), n.end(),
                        [](unsigned char c) { return std::isdigit(c); })) {
            return true;
        }
    }
    return false;
}

std::string Names::unique(std::string_view wanted) {
    std::string name;
    for (unsigned char c : wanted)
        name += (c < 128 && std::isalnum(c)) ? static_cast<char>(c) : '_';
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name.insert(0, "v");
    if (is_dialect_word(name)) name.insert(0, "u_");
    bool is_reserved = std::find(reserved.begin(), reserved.end(), name) != reserved.end();
    std::string free = is_reserved ? name + "_" : name;
    for (int n = 1; taken_.contains(free); ++n) free = name + "_" + std::to_string(n);
    taken_.insert(free);
    return free;
}

}  // namespace unisono::c_source
