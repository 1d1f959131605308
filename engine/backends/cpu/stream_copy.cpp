// Non-temporal copies, in the widest form that the machine has.
#include "backends/cpu/stream_copy.h"

#include <algorithm>
#include <cstring>
#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace unisono::cpu {

namespace {

constexpr std::int64_t line = 64;

#ifdef __x86_64__
__attribute__((target("avx512f"))) void copy_lines_512(char* to, const char* from,
                                                       std::int64_t bytes) {
    for (std::int64_t i = 0; i < bytes; i += line) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
    }
}

__attribute__((target("avx"))) void copy_lines_256(char* to, const char* from, std::int64_t bytes) {
    for (std::int64_t i = 0; i < bytes; i += line) {
        auto* source = reinterpret_cast<const __m256i*>(from + i);
        auto* target = reinterpret_cast<__m256i*>(to + i);
        __m256i low = _mm256_loadu_si256(source);
        __m256i high = _mm256_loadu_si256(source + 1);
        _mm256_stream_si256(target, low);
        _mm256_stream_si256(target + 1, high);
    }
}

using CopyLines = void (*)(char*, const char*, std::int64_t);
const CopyLines copy_lines = __builtin_cpu_supports("avx512f") ? copy_lines_512 : copy_lines_256;
#else
void copy_lines(char* to, const char* from, std::int64_t bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}
#endif

}  // namespace

void stream_copy(char* to, const char* from, std::int64_t bytes) noexcept {
    auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % line);
    std::int64_t head = std::min((line - misaligned) % line, bytes);
    if (head) std::memcpy(to, from, static_cast<std::size_t>(head));
    std::int64_t whole = (bytes - head) / line * line;
    if (whole) copy_lines(to + head, from + head, whole);
    std::int64_t tail = bytes - head - whole;
    if (tail) std::memcpy(to + head + whole, from + head + whole, static_cast<std::size_t>(tail));
}

}  // namespace unisono::cpu
