// Which of its array arguments a compiled function reads and which it writes.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace unisono::passes {

struct ArrayEffect {
    bool reads = false;   ///< elements, not sizes alone
    bool writes = false;  ///< some of the elements; the others stay
};

/// Of the entry's array parameters, in their order. Both where it cannot be told: code of C text
/// that takes a pointer, and arrays whose address is passed on as a number.
std::vector<ArrayEffect> array_effects(const ir::Module& module);

}  // namespace unisono::passes
