// What the native recursion_check returns to functions that call themselves, every few calls.
#pragma once

#include <cstdint>

namespace unisono {

inline constexpr std::int64_t stack_is_low = 1, user_stops = 2;  ///< 0: go on

/// The number of a fault that no try catches: the user asked to stop; the fault's first value is
/// the line, the second the file.
inline constexpr std::int64_t interrupted_fault = (std::int64_t{1} << 40) + 1;

}  // namespace unisono
