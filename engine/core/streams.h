// Stores of large results past the caches: their lines are neither read first, nor do they drive
// out what is read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace unisono {

/// Of all that a loop reads and writes: beyond the caches.
inline constexpr std::int64_t stream_bytes = 32 * 1024 * 1024;

/// Copies without reading the target's cache lines first; whole lines only, the rest as usual.
inline void copy_stream(char* out, const char* in, std::size_t bytes) {
#if defined(__AVX2__)
    std::size_t head = -reinterpret_cast<std::uintptr_t>(out) & 63;
    if (head > bytes) head = bytes;
    std::memcpy(out, in, head);
    std::size_t i = head;
    for (; i + 64 <= bytes; i += 64) {
        auto* line = reinterpret_cast<__m256i*>(out + i);
        auto* from = reinterpret_cast<const __m256i*>(in + i);
        _mm256_stream_si256(line, _mm256_loadu_si256(from));
        _mm256_stream_si256(line + 1, _mm256_loadu_si256(from + 1));
    }
    std::memcpy(out + i, in + i, bytes - i);
#else
    std::memcpy(out, in, bytes);
#endif
}

/// Makes streamed stores of this thread visible before it reports that it is done.
inline void finish_streams() {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

}  // namespace unisono
