// The host memory pool: size classes with free lists, large blocks on huge pages, so that steady
// programs touch no fresh page.
#pragma once

#include <cstdint>
#include <string>

namespace unisono::pool {

/// 64-byte aligned, not cleared. Trims itself before it fails; then throws a Memory error that says
/// how much was wanted, in use and cached.
void* allocate(std::int64_t bytes);
void free(void* block, std::int64_t bytes) noexcept;

/// Gives cached blocks back to the system.
void trim() noexcept;
/// Most bytes that may be in use (default, and where 0 is set: physical memory, or the cgroup's
/// limit).
std::int64_t limit();
void set_limit(std::int64_t bytes);
std::int64_t cached_bytes();

/// What the process holds, whichever context it was allocated in.
struct Usage {
    std::int64_t in_use = 0, peak = 0;
    std::int64_t fresh = 0;  ///< newly taken from the system, since the start
};
Usage usage();
/// A size as messages tell it: "3.5 MiB".
std::string megabytes(std::int64_t bytes);

}  // namespace unisono::pool
