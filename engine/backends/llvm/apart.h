// Runs work on a thread of its own, for the sake of memory: glibc gives that thread a heap of its
// own. The code generator makes and drops small blocks by the million; in a heap that emitting and
// optimising a large module have left full of holes they come to lie all over it, and time per
// line grows with the module: by a quarter from 250 lines to 2000.
#pragma once

#include <functional>

namespace unisono::codegen {

/// Calls the function on another thread, and waits; on this one where there can be no other. What
/// it throws is thrown here.
void run_apart(const std::function<void()>& work);

}  // namespace unisono::codegen
