// The standard headers that C text may include: declarations of what the C library of the process
// offers.
#pragma once

#include <span>

namespace unisono::codegen {

struct Header {
    const char* name;
    const char* text;
};

std::span<const Header> standard_headers();

}  // namespace unisono::codegen
