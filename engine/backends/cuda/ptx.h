// From a module to PTX, without a device: what the driver loads, and what tests assemble.
#pragma once

#include <string>

#include "ir/ir.h"
#include "passes/kernels/map_to_grid.h"

namespace unisono::cuda {

struct PtxTarget {
    std::string architecture;  ///< "sm_75"
    std::string ptx_version;   ///< "+ptx63"
    bool fastmath = false;
    bool use_cache = true;
};

/// PTX of a module already lowered for a device.
std::string write_ptx(const ir::Module& lowered, const PtxTarget& target);
/// The LLVM IR that becomes this PTX.
std::string write_llvm_ir(const ir::Module& lowered, const PtxTarget& target);

/// The module lowered for a device, and what launches its kernels. Throws an Unsupported error that
/// names the line of what no kernel can do.
ir::Module lower_for_device(ir::Module module,
                            std::shared_ptr<const passes::HostProgram>* host = nullptr);

/// Assembles PTX to machine code with nvJitLink, found at `library` or, where that is empty, by the
/// system's search. Throws an Unsupported error where the library is missing, a Compile error with
/// its log where it refuses the text.
std::string assemble(const std::string& ptx, const std::string& architecture,
                     const std::string& library = {});

}  // namespace unisono::cuda
