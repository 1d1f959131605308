// Exceptions of C++ libraries that compiled code calls.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"

namespace unisono {

/// Runs f(p); an exception that comes out of it is noted, see take_foreign_error. Compiled code
/// calls C++ through it.
void guard_cpp(void (*f)(void*), void* p) noexcept;

struct ForeignError {
    ErrorKind kind = ErrorKind::Runtime;
    std::string text;
    std::int32_t line = 0;   ///< of the call in compiled code; 0: where the status was read
    std::uint16_t file = 0;  ///< of the function's files
};
/// Notes an error of a function that compiled code calls and that reports it as a status.
void note_foreign_error(ForeignError error) noexcept;
/// The exception that was noted last; false where there was none since the last call.
bool take_foreign_error(ForeignError& error);

}  // namespace unisono
