// Which line of the user's program a statement has.
#pragma once

#include <cstdint>

namespace unisono {

/// A place in the user's program that is decoded only when somebody asks: for Python a code object
/// and an offset.
struct LineRef {
    void* code = nullptr;
    std::int32_t offset = 0;
};

}  // namespace unisono
