// The interface of the LLVM plugin: kernel IR in, machine code or PTX out. No LLVM header is needed
// to use it.
//
// The host's entry point. A compiled module is one position-independent function
//     int64_t unisono_kernel(int64_t* args, Fault* fault)
// that returns the fault's site (counted through the module's functions), -1, or
// out_of_memory_site. `args` holds, for each parameter of the module's entry in order, an array's
// address, its extents and its strides (in elements), or a scalar's bits; then one slot per result,
// which the kernel fills. Its imports are those of backends/cpu/imports.cpp.
//
// A deferred function is compiled for itself, as int64_t unisono_kernel(Fault*, ...): per parameter
// a scalar, or an array's address, extents and strides; then the address of each result.
//
// PTX. Each function that is a kernel or has a grid becomes an entry unisono_kernel_<number>. Its
// parameters: the address of a DeviceFault; the number of the launch among those that share it; the
// address of the results, 8 bytes each; nine int64 of the NDRange (global size, first block of this
// launch, offset; three each); per parameter an array's address, extents and strides, or a scalar;
// the address of each array of scratch_of(function), then of slots_of(function). The grid of a
// launch may be a slice of the range's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/listing.h"
#include "core/error.h"
#include "core/native/recursion.h"
#include "ir/ir.h"

namespace unisono::codegen {

inline constexpr const char* kernel_symbol = "unisono_kernel";
/// The entry point with C's calling convention, where Target::callback asks for one: scalars and
/// results as C passes them, arrays as pointers, without extents.
inline constexpr const char* callback_symbol = "unisono_callback";
/// Stands for a site where memory for an array made in the kernel was missing.
inline constexpr std::int64_t out_of_memory_site = std::int64_t{1} << 40;
/// The user asked to stop; the fault's first value is the line, the second the file.
inline constexpr std::int64_t interrupted_site = interrupted_fault;
static_assert(interrupted_site == out_of_memory_site + 1);
/// A deferred function could not be compiled.
inline constexpr std::int64_t deferred_failed_site = out_of_memory_site + 2;
inline constexpr int range_slots = 9;

/// How device kernels report the lowest failing work-item. A kernel does nothing behind a fault of
/// an earlier launch.
struct DeviceFault {
    static constexpr std::uint64_t none = ~std::uint64_t{0};
    std::uint64_t key =
        none;  ///< row-major index of the work-item (last axis outermost) * 65536 + site
    std::uint64_t lock = 0;
    static constexpr std::int64_t no_launch = INT64_MAX;
    std::int64_t launch = no_launch;  ///< the kernel's parameter
    std::int64_t iteration = 0;  ///< the work-item's place on the last axis, the outermost loop
    std::int64_t values[4] = {0, 0, 0, 0};
};

inline bool is_device_kernel(const ir::Function& f) { return f.is_kernel || !f.grid.empty(); }

/// A global array that no parameter brings: the same memory in all kernels of a module.
struct Scratch {
    std::int32_t array;
    std::int64_t bytes;
};
std::vector<Scratch> scratch_of(const ir::Function& f);
/// The variables that hold arrays which a device kernel uses.
std::vector<std::int32_t> slots_of(const ir::Function& f);

struct Target {
    enum class Kind : std::uint8_t { Host, Ptx };
    Kind kind = Kind::Host;
    std::string cpu;         ///< empty: this machine's; for PTX "sm_70"
    std::string features;    ///< as LLVM spells them; empty with an empty cpu: this machine's; for
                             ///< PTX "+ptx63"
    bool streaming = false;  ///< stores marked as streaming bypass the caches
    bool fastmath = false;   ///< floats may be re-associated, contracted and approximated
    bool portable_math =
        false;          ///< on the host too, the functions written for PTX: how tests run them
    int function = -1;  ///< on the host: this deferred function instead of the entry
    bool has_natives = false;           ///< set by the plugin: code of C text is linked
    bool callback = false;              ///< the host's entry is also callable from C
    std::uint64_t callback_failed = 0;  ///< what it returns after a fault: the result's bits
    bool want_code = true;              ///< object or PTX
    bool want_ir = false;               ///< text of the optimised LLVM IR
    bool want_assembly = false;
    bool want_lines = false;  ///< the code tells its lines: DWARF, !dbg, .loc; and remarks
};

/// Microseconds that each step took.
struct Times {
    double emit = 0, passes = 0, code = 0;
};

struct Result {
    std::string code;  ///< an ELF object, or PTX
    std::string ir;
    std::string assembly;
    std::vector<Remark> remarks;
    std::vector<CodeLine> lines;  ///< of the code section, by offset
    Times times;
    bool failed = false;
    ErrorKind error_kind = ErrorKind::Internal;
    std::string error;
};

/// The plugin's one entry point, found by name; no exception leaves it.
using CompileFunction = void (*)(const ir::Module& module, const Target& target, Result& result);
inline constexpr const char* compile_symbol = "unisono_llvm_compile";

}  // namespace unisono::codegen
