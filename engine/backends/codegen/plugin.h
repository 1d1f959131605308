// The LLVM plugin, loaded when something must be compiled.
#pragma once

#include <string>

#include "backends/codegen/compile.h"

namespace unisono::codegen {

/// Path of a file beside the engine's library.
std::string plugin_path(const std::string& name);

/// The plugin's entry point; throws an Unsupported error where it cannot be loaded.
CompileFunction llvm_plugin();

/// Runs the plugin; throws the error that it reports.
Result compile(const ir::Module& module, const Target& target);

/// Identifies this build: another compiler plugin may make other code.
std::string build_id();
/// Identifies the processor and what it can do.
std::string processor_id();

}  // namespace unisono::codegen
