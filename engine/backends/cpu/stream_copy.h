// Copies from the first-level cache to memory past the caches.
#pragma once

#include <cstdint>

namespace unisono::cpu {

/// Copies bytes to `to`: whole cache lines of the destination by non-temporal stores, its ends by
/// ordinary ones. Other threads may read them after a store fence of the writer.
void stream_copy(char* to, const char* from, std::int64_t bytes) noexcept;

}  // namespace unisono::cpu
