// From a lowered module to code in memory: the kernels in use, the disk cache, the LLVM plugin.
#pragma once

#include <memory>
#include <string>

#include "backends/cpu/loader.h"
#include "backends/llvm/compile.h"

namespace unisono::cpu {

/// The plugin's entry point; loads the plugin at the first call. Throws an Unsupported error where
/// it is missing.
codegen::CompileFunction llvm_plugin();
/// Path of the plugin beside the engine's library.
std::string plugin_path(const std::string& name);

/// Runs the plugin; throws the error that it reports.
codegen::Result compile_with_llvm(const ir::Module& module, const codegen::Target& target);

/// Machine code of a lowered module. `streaming` selects the variant whose marked stores bypass the
/// caches.
std::shared_ptr<LoadedCode> machine_code(const ir::Module& module, bool streaming, bool use_cache);

}  // namespace unisono::cpu
