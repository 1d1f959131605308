// Functions that come as machine-independent code instead of a syntax tree: those of C text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace unisono::frontend {

/// What C takes for one parameter.
struct NativeParam {
    DType dtype = DType::Float64;  ///< of the number, or of what the pointer points to
    bool is_pointer = false;
    bool writes = true;  ///< through the pointer
    std::string spelling;
};

struct NativeFunction {
    std::shared_ptr<const ir::NativeCode> code;
    std::string symbol;
    std::vector<NativeParam> params;
    std::optional<DType> result;
    std::string declaration;  ///< for errors
    bool is_pure = false;     ///< reads and writes nothing but its arguments
};

}  // namespace unisono::frontend
