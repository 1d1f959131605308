// Optimises a module of LLVM IR and turns it into an object or PTX.
#pragma once

#include <llvm/IR/Module.h>

#include "backends/codegen/compile.h"

namespace unisono::codegen {

/// What the target machine is called and can do.
struct Machine {
    std::string triple, cpu, features;
};
Machine machine_of(const Target& target);

/// Bytes of the widest vectors that code for this machine should use.
int vector_bytes(const Machine& machine);

/// `source` is what the module was made of.
void generate(llvm::Module& module, const ir::Module& source, const Target& target,
              const Machine& machine, Result& result);

}  // namespace unisono::codegen
