// The built-in exceptions that compiled functions raise and catch.
#pragma once

#include <cstdint>
#include <string>

namespace unisono::frontend {

/// The class by ir::FaultSite::code; empty where it is none of Python's own.
std::string exception_name(std::int64_t code);
/// ir::FaultSite::exception of a class of the table; 0 where an ErrorKind says it.
std::int32_t exception_number(const std::string& name);

}  // namespace unisono::frontend
