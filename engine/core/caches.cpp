#include "core/caches.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace unisono {

// The kernel's figure is per instance; the C library's may be that of all instances together. Few
// processors of a virtual machine see the cache of the whole host, which they share: none has more
// than most_per_core of it to itself.
std::int64_t last_level_cache() {
    constexpr std::int64_t most_per_core = 16 << 20;
    static const std::int64_t bytes = [] {
        std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
        std::int64_t kib = 0;
        std::int64_t l3 = file >> kib && kib > 0 ? kib << 10 : sysconf(_SC_LEVEL3_CACHE_SIZE);
        if (l3 <= 0) return std::int64_t{8} << 20;
        return std::min(l3, sysconf(_SC_NPROCESSORS_ONLN) * most_per_core);
    }();
    return bytes;
}

std::int64_t second_level_cache() {
    static const std::int64_t bytes = [] {
        const std::int64_t told = sysconf(_SC_LEVEL2_CACHE_SIZE);
        return told > 0 ? told : std::int64_t{1} << 20;
    }();
    return bytes;
}

}  // namespace unisono
