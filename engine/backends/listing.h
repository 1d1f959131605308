// Generated code for people, and what the compiler said of each line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/line_facts.h"

namespace unisono {

/// What an optimisation did at a line of the user's, or why it did not.
struct Remark {
    std::string pass;  ///< "loop-vectorize", "licm", "inline"...
    std::string name;  ///< of the remark within the pass: "Vectorized", "CantReorderFPOps"...
    bool done = false;
    std::string function;  ///< of the generated code
    std::string file;
    int line = 0;
    std::string text;
};

/// Where the instructions from an offset on (to the next one) come from; `file` counts
/// ir::Function::files, line 0 is nobody's.
struct CodeLine {
    std::uint64_t offset = 0;
    int file = 0;
    int line = 0;
};

/// What the machine code of a kernel takes, where the back end can tell; else 0.
struct Resources {
    int registers = 0;  ///< of a work-item
    int shared_bytes = 0, local_bytes = 0, constant_bytes = 0;
    int most_items = 0;  ///< of a work-group
    int code_version = 0,
        text_version = 0;  ///< of the instructions, and of what they were made from
};

/// A compiled module as text; pieces that a back end does not have are empty.
struct Listing {
    std::string lowered;   ///< kernel IR behind the passes
    std::string ir;        ///< LLVM IR with !dbg, OpenCL C or PTX
    std::string assembly;  ///< with .loc
    std::vector<Remark> remarks;
    std::vector<ir::LineFacts> facts;  ///< of the lowered IR
    Resources resources;               ///< of its first kernel
};

}  // namespace unisono
