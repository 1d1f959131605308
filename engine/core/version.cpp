// Defines the engine's version from the build's definition.
#include "core/version.h"

namespace unisono {

const char* version() noexcept { return UNISONO_VERSION; }

}  // namespace unisono
