// Functions of C text in the dialect of a device: the interface to the LLVM plugin.
#pragma once

#include <span>
#include <string>

#include "ir/ir.h"

namespace unisono::codegen {

struct NativeText {
    std::string text;          ///< constants and one static function
    bool has_float64 = false;  ///< it computes with them
    bool failed = false;
    std::string error;
};

/// The function `symbol` of the code as OpenCL C, named `name`. Pointers are `uchar*` of the spaces
/// given, one for each pointer parameter; integers are unsigned. Calls are inlined. Throws
/// Unsupported where the code uses what devices lack: memory of its own, library functions,
/// recursion, variables.
NativeText opencl_text(const ir::NativeCode& code, const std::string& symbol,
                       const std::string& name, std::span<const ir::Space> pointers);

using WriteNative = void (*)(const ir::NativeCode& code, const std::string& symbol,
                             const std::string& name, std::span<const ir::Space> pointers,
                             NativeText& made);
inline constexpr const char* write_native_symbol = "unisono_llvm_write_native";

}  // namespace unisono::codegen
