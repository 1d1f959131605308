// Two passes over a mask in blocks: counts, then moves. Masks are read as words of 64 bits, one per
// element: words without true elements are passed over, those with few are taken bit by bit, and
// the others by loops without branches that data decides.
#include "library/gather/mask.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "core/element_copies.h"
#include "core/threads/parallel.h"

namespace unisono::library {

namespace {

using primitives::mask_block;
constexpr std::int64_t word_size = 64;
constexpr int few = 12;  ///< true elements of a word, up to which bits are taken one by one

/// Bit j says whether mask[j] is set; `count` is at most 64.
std::uint64_t word_of(const std::uint8_t* mask, std::int64_t count) {
    std::uint8_t bytes[word_size] = {};
    if (count < word_size) {
        std::memcpy(bytes, mask, static_cast<std::size_t>(count));
        mask = bytes;
    }
#if defined(__AVX2__)
    const __m256i zero = _mm256_setzero_si256();
    auto unset = [&](const std::uint8_t* from) {
        __m256i part = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(part, zero)));
    };
    return ~(unset(mask) | static_cast<std::uint64_t>(unset(mask + 32)) << 32);
#else
    std::uint64_t word = 0;
    for (int j = 0; j < word_size; ++j) word |= static_cast<std::uint64_t>(mask[j] != 0) << j;
    return word;
#endif
}

/// Calls f(i, count, word) for each word of [begin, end) that has true elements.
template <class F>
void each_word(const std::uint8_t* mask, std::int64_t begin, std::int64_t end, F&& f) {
    for (std::int64_t i = begin; i < end; i += word_size) {
        std::int64_t count = std::min(word_size, end - i);
        if (std::uint64_t word = word_of(mask + i, count)) f(i, count, word);
    }
}

/// Calls f(begin, end, first, last) for each block with true elements; [first, last) are their
/// numbers.
template <class F>
void each_block(const BlockCounts& counts, F&& f) {
    auto blocks = static_cast<std::int64_t>(counts.before.size()) - 1;
    parallel_for(0, blocks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = begin; b < end; ++b) {
            std::int64_t first = counts.before[static_cast<std::size_t>(b)],
                         last = counts.before[static_cast<std::size_t>(b) + 1];
            if (first == last) continue;
            f(b * mask_block, std::min(counts.size, (b + 1) * mask_block), first, last);
        }
    });
}

template <class T>
void select_as(const BlockCounts& counts, const std::uint8_t* mask, const T* from, T* to) {
    each_block(counts, [&](std::int64_t begin, std::int64_t end, std::int64_t k,
                           std::int64_t last) {
        if (last - k == end - begin) {
            std::copy(from + begin, from + end, to + k);
            return;
        }
        each_word(mask, begin, end, [&](std::int64_t i, std::int64_t count, std::uint64_t word) {
            int set = std::popcount(word);
            if (set == count) {
                std::copy(from + i, from + i + count, to + k);
                k += count;
            } else if (set <= few) {
                for (; word; word &= word - 1) to[k++] = from[i + std::countr_zero(word)];
            } else {
                // Each element is written where the next true one belongs; the loop ends
                // with the last one, so that nothing is written beyond it.
                for (std::int64_t stop = k + set; k < stop; ++i) {
                    to[k] = from[i];
                    k += mask[i] != 0;
                }
            }
        });
    });
}

/// `a` where the mask is set, else `b`: without a branch, whatever the compiler thinks of it.
template <class T>
T blend(bool set, T a, T b) {
    if constexpr (sizeof(T) == 16) {
        return {{blend(set, a.parts[0], b.parts[0]), blend(set, a.parts[1], b.parts[1])}};
    } else {
        T keep = static_cast<T>(-static_cast<T>(set));
        return static_cast<T>((a & keep) | (b & static_cast<T>(~keep)));
    }
}

template <class T>
void fill_as(const BlockCounts& counts, const std::uint8_t* mask, const T* from, T* to) {
    each_block(counts, [&](std::int64_t begin, std::int64_t end, std::int64_t k, std::int64_t) {
        each_word(mask, begin, end, [&](std::int64_t i, std::int64_t count, std::uint64_t word) {
            int set = std::popcount(word);
            if (set == count) {
                std::copy(from + k, from + k + count, to + i);
                k += count;
            } else if (set <= few) {
                for (; word; word &= word - 1) to[i + std::countr_zero(word)] = from[k++];
            } else {
                for (std::int64_t stop = k + set; k < stop; ++i) {
                    to[i] = blend(mask[i] != 0, from[k], to[i]);
                    k += mask[i] != 0;
                }
            }
        });
    });
}

}  // namespace

void count_mask(const std::uint8_t* mask, std::int64_t size, std::span<std::int64_t> before) {
    before[0] = 0;
    parallel_for(
        0, static_cast<std::int64_t>(before.size()) - 1, 1,
        [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t b = begin; b < end; ++b) {
                std::int64_t first = b * mask_block, last = std::min(size, first + mask_block);
                std::int64_t total = 0;
                each_word(mask, first, last, [&](std::int64_t, std::int64_t, std::uint64_t word) {
                    total += std::popcount(word);
                });
                before[static_cast<std::size_t>(b) + 1] = total;
            }
        });
    for (std::size_t b = 1; b < before.size(); ++b) before[b] += before[b - 1];
}

void select(std::int64_t item_size, const BlockCounts& counts, const std::uint8_t* mask,
            const char* from, char* to) {
    with_size(item_size, [&]<class T>() {
        select_as(counts, mask, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
    });
}

void fill(std::int64_t item_size, const BlockCounts& counts, const std::uint8_t* mask,
          const char* from, char* to) {
    with_size(item_size, [&]<class T>() {
        fill_as(counts, mask, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
    });
}

void places(const BlockCounts& counts, Dims shape, const std::uint8_t* mask, std::int64_t* to) {
    std::int64_t total = counts.total();
    std::size_t rank = shape.size();
    each_block(counts, [&](std::int64_t begin, std::int64_t, std::int64_t k, std::int64_t last) {
        std::int64_t at[max_rank];
        for (std::int64_t rest = begin, axis = static_cast<std::int64_t>(rank); axis-- > 0;) {
            auto a = static_cast<std::size_t>(axis);
            at[a] = rest % shape[a];
            rest /= shape[a];
        }
        std::int64_t* inner = to + static_cast<std::int64_t>(rank - 1) * total;
        for (std::int64_t i = begin; k < last;) {
            // To the end of a row of the innermost axis, or of the block's true elements.
            std::int64_t row = shape[rank - 1] - at[rank - 1], first = k;
            for (std::int64_t j = 0; j < row && k < last; ++j) {
                inner[k] = at[rank - 1] + j;
                k += mask[i + j] != 0;
            }
            for (std::size_t a = 0; a + 1 < rank; ++a)
                std::fill(to + static_cast<std::int64_t>(a) * total + first,
                          to + static_cast<std::int64_t>(a) * total + k, at[a]);
            i += row;
            at[rank - 1] = 0;
            for (std::size_t a = rank - 1; a-- > 0;) {
                if (++at[a] < shape[a]) break;
                at[a] = 0;
            }
        }
    });
}

}  // namespace unisono::library
