// Which identifiers C dialects reserve, and how a name is made free of them.
#include "backends/c_source/names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace unisono::c_source {

// Keywords and types of C, OpenCL C and CUDA C, and the built-in functions that the writer itself
// uses.
static constexpr std::array reserved = {
    "abs",        "acos",       "acosh",      "alignas",    "alignof",   "asin",       "asinh",
    "asm",        "atan",       "atan2",      "atanh",      "atom_add",  "atom_max",   "atom_min",
    "atomic_add", "atomic_and", "atomic_max", "atomic_min", "atomic_or", "atomic_sub", "atomic_xor",
    "auto",       "barrier",    "bool",       "bool2",      "break",     "case",       "catch",
    "cbrt",       "ceil",       "char",       "class",      "complex",   "const",      "constant",
    "continue",   "copysign",   "cos",        "cosh",       "default",   "defined",    "delete",
    "do",         "double",     "else",       "enum",       "event_t",   "exp",        "exp2",
    "expm1",      "extern",     "fabs",       "false",      "float",     "floor",      "fma",
    "fmod",       "for",        "friend",     "generic",    "global",    "goto",       "half",
    "hypot",      "if",         "image2d_t",  "image3d_t",  "imaginary", "inline",     "int",
    "intptr_t",   "isnan",      "kernel",     "ldexp",      "local",     "log",        "log10",
    "log1p",      "log2",       "long",       "main",       "mutable",   "namespace",  "new",
    "nextafter",  "operator",   "pipe",       "popcount",   "pow",       "printf",     "private",
    "protected",  "ptrdiff_t",  "public",     "quad",       "read_only", "read_write", "register",
    "restrict",   "return",     "rint",       "sampler_t",  "short",     "signed",     "sin",
    "sinh",       "size_t",     "sizeof",     "sqrt",       "static",    "struct",     "switch",
    "tan",        "tanh",       "template",   "this",       "throw",     "true",       "trunc",
    "try",        "typedef",    "typeof",     "uchar",      "uint",      "uintptr_t",  "ulong",
    "uniform",    "union",      "unsigned",   "ushort",     "using",     "virtual",    "void",
    "volatile",   "wchar_t",    "while",      "write_only",
};

// Built-in functions of OpenCL C with names that users give to functions of their own; some drivers
// make macros of them.
static constexpr std::array built_in_functions = {
    "abs_diff",   "acospi",      "add_sat",    "all",    "any",      "asinpi",   "atan2pi",
    "atanpi",     "bitselect",   "clamp",      "clz",    "cospi",    "cross",    "ctz",
    "degrees",    "distance",    "dot",        "erf",    "erfc",     "exp10",    "fdim",
    "fmax",       "fmin",        "fract",      "frexp",  "hadd",     "ilogb",    "isequal",
    "isfinite",   "isgreater",   "isinf",      "isless", "isnormal", "length",   "lgamma",
    "lgamma_r",   "logb",        "mad",        "mad24",  "mad_hi",   "mad_sat",  "max",
    "maxmag",     "mem_fence",   "min",        "minmag", "mix",      "modf",     "mul24",
    "mul_hi",     "nan",         "normalize",  "pown",   "powr",     "prefetch", "radians",
    "remainder",  "remquo",      "rhadd",      "rootn",  "rotate",   "round",    "rsqrt",
    "select",     "shuffle",     "shuffle2",   "sign",   "signbit",  "sincos",   "sinpi",
    "smoothstep", "step",        "sub_sat",    "tanpi",  "tgamma",   "upsample", "vec_step",
    "isordered",  "isunordered", "isnotequal",
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

std::string Names::unique_function(std::string_view wanted) {
    bool is_built_in = std::find(built_in_functions.begin(), built_in_functions.end(), wanted) !=
                           built_in_functions.end() ||
                       wanted.starts_with("fast_") || wanted.starts_with("half_") ||
                       wanted.starts_with("read_image") || wanted.starts_with("write_image") ||
                       wanted.starts_with("async_work");
    return unique(is_built_in ? std::string(wanted) + "_" : std::string(wanted));
}

}  // namespace unisono::c_source
