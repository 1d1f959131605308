// Counts the machine's registers in a listing.
#pragma once

#include <string_view>

namespace unisono::cpu {

/// How many different registers the instructions of x86 assembly in AT&T's form name, parts of one
/// register (eax, al; xmm3, zmm3) counted once and without the instruction pointer; 0 of others.
int registers_in(std::string_view assembly);

}  // namespace unisono::cpu
