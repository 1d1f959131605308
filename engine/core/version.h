// The engine's version, set from the one place that names it (the project line of CMakeLists.txt).
#pragma once

namespace unisono {

/// Version as "major.minor.patch"; the string is static.
const char* version() noexcept;

}  // namespace unisono
