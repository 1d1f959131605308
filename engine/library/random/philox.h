// Philox4x32-10, the counter-based generator (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", 2011): the draws of an element follow from seed, stream and its index alone.
#pragma once

#include <cstdint>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "primitives/drawing.h"

namespace unisono::library {

using primitives::RandomKey;

namespace philox {

inline constexpr std::uint32_t multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
inline constexpr std::uint32_t bump_0 = 0x9E3779B9, bump_1 = 0xBB67AE85;
inline constexpr int lanes = 8;  ///< blocks that `blocks` makes at once

/// One block: its two 64-bit halves. `draw` and `stream` are the upper words of the counter.
struct Pair {
    std::uint64_t half[2];
};
inline Pair block(std::uint64_t key, std::uint64_t index, std::uint32_t draw,
                  std::uint32_t stream) {
    std::uint32_t c[4] = {static_cast<std::uint32_t>(index),
                          static_cast<std::uint32_t>(index >> 32), draw, stream};
    auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        std::uint64_t p0 = std::uint64_t{multiplier_0} * c[0];
        std::uint64_t p1 = std::uint64_t{multiplier_1} * c[2];
        std::uint32_t w0 = static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0;
        std::uint32_t w2 = static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1;
        c[1] = static_cast<std::uint32_t>(p1);
        c[3] = static_cast<std::uint32_t>(p0);
        c[0] = w0;
        c[2] = w2;
        k0 += bump_0;
        k1 += bump_1;
    }
    return {{c[0] | std::uint64_t{c[1]} << 32, c[2] | std::uint64_t{c[3]} << 32}};
}

/// The blocks index, ..., index + lanes - 1 of draw 0, half by half.
#ifdef __AVX2__
inline void blocks(std::uint64_t key, std::uint64_t index, std::uint32_t stream,
                   std::uint64_t* out) {
    // A 64-bit lane holds one word in its lower half; products read only that half, so whatever
    // is left above does no harm until the end.
    constexpr int groups = lanes / 4;
    __m256i c[groups][4];
    for (int g = 0; g < groups; ++g) {
        auto first = static_cast<long long>(index) + 4 * g;
        c[g][0] = _mm256_set_epi64x(first + 3, first + 2, first + 1, first);
        c[g][1] = _mm256_srli_epi64(c[g][0], 32);
        c[g][2] = _mm256_setzero_si256();
        c[g][3] = _mm256_set1_epi64x(stream);
    }
    const __m256i m0 = _mm256_set1_epi64x(multiplier_0), m1 = _mm256_set1_epi64x(multiplier_1);
    auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const __m256i v0 = _mm256_set1_epi64x(k0), v1 = _mm256_set1_epi64x(k1);
        for (auto& w : c) {
            __m256i p0 = _mm256_mul_epu32(m0, w[0]), p1 = _mm256_mul_epu32(m1, w[2]);
            w[0] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), w[1]), v0);
            w[2] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), w[3]), v1);
            w[1] = p1;
            w[3] = p0;
        }
        k0 += bump_0;
        k1 += bump_1;
    }
    for (int g = 0; g < groups; ++g) {
        __m256i low = _mm256_blend_epi32(c[g][0], _mm256_slli_epi64(c[g][1], 32), 0xaa);
        __m256i high = _mm256_blend_epi32(c[g][2], _mm256_slli_epi64(c[g][3], 32), 0xaa);
        __m256i even = _mm256_unpacklo_epi64(low, high), odd = _mm256_unpackhi_epi64(low, high);
        auto* to = reinterpret_cast<__m256i*>(out + 8 * g);
        _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
        _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
    }
}
#else
inline void blocks(std::uint64_t key, std::uint64_t index, std::uint32_t stream,
                   std::uint64_t* out) {
    for (int l = 0; l < lanes; ++l) {
        Pair pair = block(key, index + static_cast<std::uint64_t>(l), 0, stream);
        out[2 * l] = pair.half[0];
        out[2 * l + 1] = pair.half[1];
    }
}
#endif

/// The first draws of the elements first, first + 1, ...: two elements share a block. `out` has
/// room for 2 * lanes more; the draws begin at the returned place.
inline const std::uint64_t* first_draws(const RandomKey& key, std::uint64_t first, std::int64_t n,
                                        std::uint64_t* out) {
    std::uint64_t index = first >> 1;
    auto skip = static_cast<std::int64_t>(first & 1);
    for (std::int64_t done = 0; done < n + skip; done += 2 * lanes, index += lanes)
        blocks(key.key, index, key.stream, out + done);
    return out + skip;
}

}  // namespace philox

/// The draws of one element, without end: the first is given, later ones have blocks of their own.
class Draws {
  public:
    Draws(const RandomKey& key, std::uint64_t index, std::uint64_t first)
        : key_(key.key), stream_(key.stream), index_(index), first_(first) {}
    std::uint64_t bits() {
        if (count_ == 0) {
            count_ = 1;
            return first_;
        }
        bool second = count_++ % 2 == 0;
        if (!second) pair_ = philox::block(key_, index_, ++draw_, stream_);
        return pair_.half[second];
    }
    /// In [0, 1), 53 bits.
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    /// In (0, 1].
    double positive() { return 1.0 - uniform(); }

  private:
    std::uint64_t key_;
    std::uint32_t stream_, draw_ = 0;
    std::uint64_t index_, first_;
    std::uint32_t count_ = 0;
    philox::Pair pair_{};
};

}  // namespace unisono::library
