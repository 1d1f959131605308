// Runs work on a thread of its own, for the sake of its stack and its heap. Compilers recurse over
// what they compile. And the code generator makes and drops small blocks by the million; in a heap
// that emitting and optimising a large module have left full of holes they come to lie all over
// it, and time per line grows with the module: by a quarter from 250 lines to 2000. glibc gives the
// thread a heap of its own.
#pragma once

#include <cstddef>
#include <functional>

namespace unisono {

inline constexpr std::size_t usual_stack = std::size_t{64} << 20;  ///< reserved, not touched

/// Calls the function on another thread, and waits; on this one where there can be no other. What
/// it throws is thrown here.
void run_apart(const std::function<void()>& work, std::size_t stack_bytes = usual_stack);

}  // namespace unisono
