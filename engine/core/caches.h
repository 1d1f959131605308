// Sizes of the processor's caches.
#pragma once

#include <cstdint>

namespace unisono {

/// Bytes of one core complex's last-level cache, as far as this process may count on them.
std::int64_t last_level_cache();
/// Bytes of the second-level cache of a core.
std::int64_t second_level_cache();

}  // namespace unisono
