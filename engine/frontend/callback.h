// What a function that C calls needs beside its body.
#pragma once

#include <optional>

#include "ir/ir.h"

namespace unisono::frontend {

/// The module with an entry that gives its result as `result`, or nothing.
ir::Module with_result(ir::Module module, std::optional<DType> result);

}  // namespace unisono::frontend
