// The exceptions that compiled functions raise and catch: built-in ones, and classes of programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace unisono::frontend {

/// The class by ir::FaultSite::code; empty where it is none of Python's own.
std::string exception_name(std::int64_t code);
/// Adds a class of the program under a name of its own, by the names of the classes that it is
/// derived from: those that are known count. It is never forgotten; once for each.
std::string add_exception(const std::string& name, const std::vector<std::string>& bases,
                          const void* python);
/// The class of a program by ir::FaultSite::code; null where it is none.
const void* exception_python(std::int64_t code);
/// ir::FaultSite::exception of a class of the table; 0 where an ErrorKind says it.
std::int32_t exception_number(const std::string& name);

}  // namespace unisono::frontend
