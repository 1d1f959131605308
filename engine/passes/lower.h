// The pipeline from IR as it is built to IR that a target emits; lower.cpp is the one list of passes.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

enum class TargetKind : std::uint8_t {
    Host,    ///< parallel loops stay; the executor outlines them (cpu, interp)
    Device,  ///< one work-item per iteration: parallel loops become work-item ids (opencl, cuda)
};

struct Target {
    TargetKind kind = TargetKind::Host;
    bool streaming_stores = false;   ///< the executor has non-temporal stores
    bool keep_checks_visible = false;  ///< interp: checks every access itself
};

void lower(ir::Module& module, const Target& target);

}  // namespace unisono::passes
