// Formats of buffers (PEP 3118) as dtypes.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace unisono::python {

/// Of one number, native or little-endian; null stands for "B". False where there is no such dtype.
bool dtype_of_format(const char* format, std::int64_t item_size, DType& t);

}  // namespace unisono::python
