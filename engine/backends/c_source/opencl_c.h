// The OpenCL C dialect of the writer: OpenCL C 1.2, which every device compiles.
#pragma once

#include "backends/c_source/writer.h"

namespace unisono::c_source {

/// What a device lacks is refused when the text is written, naming the array or the line.
struct OpenCLFeatures {
    std::string device = "opencl";  ///< for messages
    bool float64 = true;
    bool int64_atomics = true;
};

/// The module, lowered for a device, as OpenCL C. Throws Unsupported where the device lacks
/// something.
/// `relaunches`, `fills_groups`: see Writer.
Program write_opencl_c(const ir::Module& module, const OpenCLFeatures& features,
                       bool relaunches = false, bool fills_groups = false);

}  // namespace unisono::c_source
