// Memory of objects of compiled classes; the layout is told in frontend/instances.cpp.
#pragma once

#include <cstdint>

#include "core/native/block.h"

namespace unisono {

/// A reference to the block that keeps what lies at the address alive, for arrays that the program
/// passed in; null where nobody knows it. Runs on any thread.
using KeepHook = Block* (*)(std::int64_t address);
void set_keep_hook(KeepHook hook);

/// Cleared memory of that many words, the first of which are set; null where there is none.
Block* make_object(std::int64_t words, std::int64_t counted) noexcept;

/// Objects that exist now.
std::int64_t live_objects() noexcept;

}  // namespace unisono
