// The interface of the LLVM plugin: kernel IR in, machine code or PTX out. No LLVM header is needed
// to use it.
//
// The host's entry point. A compiled module is one position-independent function
//     int64_t unisono_kernel(int64_t* args, Fault* fault)
// that returns the fault's site (counted through the module's functions) or -1. `args` holds, for
// each parameter of the module's entry in order, an array's address, its extents and its strides
// (in elements), or a scalar's bits; then one slot per result, which the kernel fills; for
// work-item functions the slots of an NDRange come first (global size, local size and offset, three
// each). Its imports are those of backends/cpu/imports.h.
#pragma once

#include <string>

#include "core/error.h"
#include "ir/ir.h"

namespace unisono::codegen {

inline constexpr const char* kernel_symbol = "unisono_kernel";
inline constexpr int range_slots = 9;

struct Target {
    enum class Kind : std::uint8_t { Host, Ptx };
    Kind kind = Kind::Host;
    std::string cpu;         ///< empty: this machine's; for PTX "sm_70"
    std::string features;    ///< as LLVM spells them; empty with an empty cpu: this machine's; for
                             ///< PTX "+ptx63"
    bool streaming = false;  ///< stores marked as streaming bypass the caches
    bool want_code = true;   ///< object or PTX
    bool want_ir = false;    ///< text of the optimised LLVM IR
    bool want_assembly = false;
};

/// Microseconds that each step took.
struct Times {
    double emit = 0, passes = 0, code = 0;
};

struct Result {
    std::string code;  ///< an ELF object, or PTX
    std::string ir;
    std::string assembly;
    Times times;
    bool failed = false;
    ErrorKind error_kind = ErrorKind::Internal;
    std::string error;
};

/// The plugin's one entry point, found by name; no exception leaves it.
using CompileFunction = void (*)(const ir::Module& module, const Target& target, Result& result);
inline constexpr const char* compile_symbol = "unisono_llvm_compile";

}  // namespace unisono::codegen
