// The standard headers that C text may include: declarations of what the C library of the process
// offers.
#pragma once

#include <span>
#include <string>

namespace unisono::codegen {

struct Header {
    const char* name;
    const char* text;
};

std::span<const Header> standard_headers();
/// The others of C11, and some of POSIX; C text alone sees them.
std::span<const Header> more_headers();
/// The same header where C++ includes it.
std::string header_for_cpp(const Header& header);
/// <cmath> and others that give C's functions names in std.
std::span<const Header> cpp_headers();

}  // namespace unisono::codegen
