// The folds themselves as templates; each file that includes this one builds them for an
// instruction set, under names of its own (an unnamed namespace).
#pragma once

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backends/block/folds.h"
#include "core/vectors.h"

#if defined(UNISONO_FOLDS_AVX512) && defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq"))), \
                             apply_to = function)
#elif defined(UNISONO_FOLDS_AVX512)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,prefer-vector-width=512")
#endif

namespace unisono::block {
namespace {

#if defined(UNISONO_FOLDS_AVX512)
constexpr int vector_bytes = 64;
#else
constexpr int vector_bytes = 32;
#endif

template <class T>
using Vector = typename VectorOf<T, vector_bytes>::type;
template <class T>
constexpr int width = vector_bytes / int{sizeof(T)};

template <class T>
Vector<T> load(const T* x) {
    Vector<T> v;
    std::memcpy(&v, x, sizeof v);
    return v;
}

/// Unsigned integers of the same size.
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// The bits of which one is set where a number is not zero: all but the sign of zeros.
template <class T>
constexpr BitsOf<T> size_bits =
    static_cast<BitsOf<T>>(std::is_floating_point_v<T> ? std::numeric_limits<BitsOf<T>>::max() >> 1
                                                       : std::numeric_limits<BitsOf<T>>::max());

// ---- Minima and maxima ------------------------------------------------------------------------

template <bool largest, class V>
V better_of(V v, V best) {
    return (largest ? v > best : v < best) ? v : best;
}
/// Odd<T>: in which places of vectors something was not a number.
#if defined(UNISONO_FOLDS_AVX512)
// The places in which all were numbers, in a mask of its own width: g++ 12 spills a mask that was
// widened to an int by its lower bytes only. A compare under the mask takes places from it.
template <class T>
struct Odd {
    using Mask = std::conditional_t<sizeof(T) == 4, __mmask16, __mmask8>;
    Mask even = static_cast<Mask>(-1);
};
// The forms with a mask: g++ 12 warns of the undefined operand of the others.
template <bool largest>
Vector<double> better_of(Vector<double> v, Vector<double> best) {
    return largest ? _mm512_maskz_max_pd(0xFF, v, best) : _mm512_maskz_min_pd(0xFF, v, best);
}
template <bool largest>
Vector<float> better_of(Vector<float> v, Vector<float> best) {
    return largest ? _mm512_maskz_max_ps(0xFFFF, v, best) : _mm512_maskz_min_ps(0xFFFF, v, best);
}
/// Adds the places in which an element of either is not a number.
inline void add_unordered(Odd<double>& odd, Vector<double> a, Vector<double> b) {
    odd.even = _mm512_mask_cmp_pd_mask(odd.even, a, b, _CMP_ORD_Q);
}
inline void add_unordered(Odd<float>& odd, Vector<float> a, Vector<float> b) {
    odd.even = _mm512_mask_cmp_ps_mask(odd.even, a, b, _CMP_ORD_Q);
}
template <class T>
bool is_any(Odd<T> odd) {
    return odd.even != Odd<T>{}.even;
}
#elif defined(__AVX2__)
template <class T>
using Odd = Vector<T>;
template <bool largest>
Vector<double> better_of(Vector<double> v, Vector<double> best) {
    return largest ? _mm256_max_pd(v, best) : _mm256_min_pd(v, best);
}
template <bool largest>
Vector<float> better_of(Vector<float> v, Vector<float> best) {
    return largest ? _mm256_max_ps(v, best) : _mm256_min_ps(v, best);
}
inline void add_unordered(__m256d& odd, Vector<double> a, Vector<double> b) {
    odd = _mm256_or_pd(odd, _mm256_cmp_pd(a, b, _CMP_UNORD_Q));
}
inline void add_unordered(__m256& odd, Vector<float> a, Vector<float> b) {
    odd = _mm256_or_ps(odd, _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}
inline bool is_any(__m256d odd) { return _mm256_movemask_epi8(_mm256_castpd_si256(odd)) != 0; }
inline bool is_any(__m256 odd) { return _mm256_movemask_epi8(_mm256_castps_si256(odd)) != 0; }
#else
template <class T>
using Odd = unsigned;
template <class V>
void add_unordered(unsigned& any, V a, V b) {
    const auto odd = (a != a) | (b != b);
    for (unsigned l = 0; l < sizeof odd / sizeof odd[0]; ++l) any |= odd[l] != 0;
}
inline bool is_any(unsigned odd) { return odd != 0; }
#endif

/// Of infinity, where nothing else that is a number was seen: whether it was seen.
template <class T>
bool has_numbers(const T* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        if (x[i] == x[i]) return true;
    }
    return false;
}

/// Whether all zeros among these have one sign; value gets it.
template <class T>
bool settle_zero(T& value, const T* x, std::int64_t n) {
    const T negative = -T{0};
    BitsOf<T> below = 0, zeros = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const auto bits = std::bit_cast<BitsOf<T>>(x[i]);
        zeros |= static_cast<BitsOf<T>>(bits == 0);
        below |= static_cast<BitsOf<T>>(bits == std::bit_cast<BitsOf<T>>(negative));
    }
    value = below ? negative : T{0};
    return !(below && zeros);
}

/// `skips`: what is not a number does not count, unless there is nothing else.
template <bool largest, bool skips, class T>
bool fold_extreme(char* out, const char* at, std::int64_t n) {
    const T* x = reinterpret_cast<const T*>(at);
    constexpr int rows = 4, w = width<T>;
    constexpr bool is_real = std::is_floating_point_v<T> && !skips;
    constexpr T lowest =
        largest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    T value = skips ? lowest : x[0];
    bool nan = false;
    if (n < w) {
        for (std::int64_t k = 0; k < n; ++k) {
            if constexpr (is_real) nan |= x[k] != x[k];
            value = better_of<largest, T>(x[k], value);
        }
    } else {
        Vector<T> best[rows];
        for (auto& b : best) b = skips ? value - Vector<T>{} : load(x);
        [[maybe_unused]] Odd<T> odd{};
        if constexpr (is_real) add_unordered(odd, best[0], best[0]);
        std::int64_t k = 0;
        for (; k + rows * w <= n; k += rows * w) {
            const Vector<T> v[rows] = {load(x + k), load(x + k + w), load(x + k + 2 * w),
                                       load(x + k + 3 * w)};
            for (int r = 0; r < rows; ++r) best[r] = better_of<largest>(v[r], best[r]);
            if constexpr (is_real) {
                add_unordered(odd, v[0], v[1]);
                add_unordered(odd, v[2], v[3]);
            }
        }
        // Elements may come twice: the last ones do.
        for (; k < n; k += w) {
            const Vector<T> v = load(x + (k + w <= n ? k : n - w));
            best[0] = better_of<largest>(v, best[0]);
            if constexpr (is_real) add_unordered(odd, v, v);
        }
        best[0] = better_of<largest>(better_of<largest>(best[1], best[0]),
                                     better_of<largest>(best[3], best[2]));
        T last[w];
        std::memcpy(last, best, sizeof last);
        value = last[0];
        for (T v : last) value = better_of<largest, T>(v, value);
        if constexpr (is_real) nan = is_any(odd);
    }
    bool settled = true;
    if constexpr (std::is_floating_point_v<T>) {
        if (skips) nan = value == lowest && !has_numbers(x, n);
        if (nan)
            value = std::numeric_limits<T>::quiet_NaN();
        else if (value == 0)
            settled = settle_zero(value, x, n);
    }
    std::memcpy(out, &value, sizeof value);
    return settled;
}

// ---- Any, all, counts -------------------------------------------------------------------------

/// One bit per element of a vector: whether it is not zero.
template <class T>
std::uint64_t set_elements(const T* x) {
    [[maybe_unused]] const auto* at = reinterpret_cast<const void*>(x);
    [[maybe_unused]] const auto bits = static_cast<long long>(size_bits<T>);
#if defined(UNISONO_FOLDS_AVX512)
    const __m512i v = _mm512_loadu_si512(at);
    if constexpr (sizeof(T) == 1) return _mm512_test_epi8_mask(v, v);
    if constexpr (sizeof(T) == 2) return _mm512_test_epi16_mask(v, v);
    if constexpr (sizeof(T) == 4)
        return _mm512_test_epi32_mask(v, _mm512_set1_epi32(static_cast<int>(bits)));
    if constexpr (sizeof(T) == 8) return _mm512_test_epi64_mask(v, _mm512_set1_epi64(bits));
#elif !defined(__AVX2__)
    constexpr int step = sizeof(T) == 2 ? 2 : 1;  // as the two bits that each element has below
    const auto* words = reinterpret_cast<const BitsOf<T>*>(x);
    std::uint64_t set = 0;
    for (int l = 0; l < width<T>; ++l)
        set |= static_cast<std::uint64_t>((words[l] & size_bits<T>) != 0) << (l * step);
    return set;
#else
    __m256i v = _mm256_loadu_si256(static_cast<const __m256i*>(at));
    const __m256i zero = _mm256_setzero_si256();
    if constexpr (sizeof(T) <= 2) {
        v = sizeof(T) == 1 ? _mm256_cmpeq_epi8(v, zero) : _mm256_cmpeq_epi16(v, zero);
        auto set = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(v));
        if (sizeof(T) == 1) return set;
        // One of the two bits that each element has.
        return set & 0x55555555u;
    } else if constexpr (sizeof(T) == 4) {
        v = _mm256_and_si256(v, _mm256_set1_epi32(static_cast<int>(bits)));
        auto clear = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(v, zero)));
        return static_cast<unsigned>(~clear) & 0xFFu;
    } else {
        v = _mm256_and_si256(v, _mm256_set1_epi64x(bits));
        auto clear = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(v, zero)));
        return static_cast<unsigned>(~clear) & 0xFu;
    }
#endif
}

/// What it gives where none is zero.
#if defined(UNISONO_FOLDS_AVX512)
template <class T>
constexpr std::uint64_t all_set = ~std::uint64_t{0} >> (64 - width<T>);
#else
template <class T>
constexpr std::uint64_t all_set = sizeof(T) == 2 ? 0x55555555u
                                                 : ~std::uint64_t{0} >> (64 - width<T>);
#endif

template <class T>
bool fold_count(char* out, const char* at, std::int64_t n) {
    const T* x = reinterpret_cast<const T*>(at);
    std::int64_t set = 0, k = 0;
    for (; k + width<T> <= n; k += width<T>) set += std::popcount(set_elements(x + k));
    for (; k < n; ++k) set += x[k] != 0;
    std::memcpy(out, &set, sizeof set);
    return true;
}

/// Stops at the first vectors that decide it.
template <bool all, class T>
bool fold_truth(char* out, const char* at, std::int64_t n) {
    const T* x = reinterpret_cast<const T*>(at);
    constexpr int rows = 8, w = width<T>;
    const auto* bits = reinterpret_cast<const BitsOf<T>*>(at);
    std::int64_t k = 0;
    bool decided = false;
    if constexpr (all) {
        for (; !decided && k + w <= n; k += w) decided = set_elements(x + k) != all_set<T>;
        for (; !decided && k < n; ++k) decided = x[k] == 0;
    } else {
        for (; !decided && k + rows * w <= n; k += rows * w) {
            Vector<BitsOf<T>> any = load(bits + k);
            for (int r = 1; r < rows; ++r) any |= load(bits + k + r * w);
            BitsOf<T> last[w];
            std::memcpy(last, &any, sizeof last);
            decided = set_elements(reinterpret_cast<const T*>(last)) != 0;
        }
        for (; !decided && k < n; ++k) decided = x[k] != 0;
    }
    *out = decided != all;
    return true;
}

// ---- Sums of integers -------------------------------------------------------------------------

/// The sum of bytes, modulo 2^64.
inline std::uint64_t sum_of_bytes(const std::uint8_t* x, std::int64_t n, std::uint8_t flip) {
    std::int64_t k = 0;
#if defined(UNISONO_FOLDS_AVX512)
    __m512i sum = _mm512_setzero_si512(), zero = sum,
            turn = _mm512_set1_epi8(static_cast<char>(flip));
    for (; k + 64 <= n; k += 64)
        sum = _mm512_add_epi64(
            sum, _mm512_sad_epu8(_mm512_xor_si512(_mm512_loadu_si512(x + k), turn), zero));
#elif defined(__AVX2__)
    __m256i sum = _mm256_setzero_si256(), zero = sum,
            turn = _mm256_set1_epi8(static_cast<char>(flip));
    for (; k + 32 <= n; k += 32) {
        __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + k));
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(_mm256_xor_si256(v, turn), zero));
    }
#else
    std::uint64_t sum = 0;
#endif
    std::uint64_t parts[sizeof sum / 8], total = 0;
    std::memcpy(parts, &sum, sizeof sum);
    for (std::uint64_t part : parts) total += part;
    for (; k < n; ++k) total += static_cast<std::uint8_t>(x[k] ^ flip);
    return total;
}

template <class T>
bool fold_sum(char* out, const char* at, std::int64_t n) {
    const T* x = reinterpret_cast<const T*>(at);
    std::uint64_t sum = 0;
    if constexpr (sizeof(T) == 1) {
        // Of signed bytes each as 128 more than it is.
        constexpr std::uint8_t flip = std::is_signed_v<T> ? 0x80 : 0;
        sum = sum_of_bytes(reinterpret_cast<const std::uint8_t*>(at), n, flip) -
              static_cast<std::uint64_t>(n) * flip;
    } else {
        for (std::int64_t k = 0; k < n; ++k)
            sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(x[k]));
    }
    std::memcpy(out, &sum, sizeof sum);
    return true;
}

// ---- Table ------------------------------------------------------------------------------------

template <class T>
RowFold fold_of(Op op, FoldOf of, DType from, DType to) {
    const bool is_truth = from == DType::Bool || of == FoldOf::NonZero;
    if (to == DType::Bool && is_truth) {
        if (op == Op::Or || op == Op::Max) return &fold_truth<false, T>;
        if (op == Op::And || op == Op::Min) return &fold_truth<true, T>;
        return nullptr;
    }
    const bool is_long = to == DType::Int64 || to == DType::UInt64;
    if (op == Op::Add && is_long && of == FoldOf::NonZero && from != DType::Bool)
        return &fold_count<T>;
    if constexpr (std::is_integral_v<T>) {
        if (op == Op::Add && is_long) return &fold_sum<T>;
    }
    if (from != to || of != FoldOf::Value) return nullptr;
    if (op == Op::Min) return &fold_extreme<false, false, T>;
    if (op == Op::Max) return &fold_extreme<true, false, T>;
    if constexpr (std::is_floating_point_v<T>) {
        if (op == Op::Fmin) return &fold_extreme<false, true, T>;
        if (op == Op::Fmax) return &fold_extreme<true, true, T>;
    }
    return nullptr;
}

RowFold find_fold(Op op, FoldOf of, DType from, DType to) {
    switch (from) {
        case DType::Bool:
        case DType::UInt8: return fold_of<std::uint8_t>(op, of, from, to);
        case DType::Int8: return fold_of<std::int8_t>(op, of, from, to);
        case DType::Int16: return fold_of<std::int16_t>(op, of, from, to);
        case DType::UInt16: return fold_of<std::uint16_t>(op, of, from, to);
        case DType::Int32: return fold_of<std::int32_t>(op, of, from, to);
        case DType::UInt32: return fold_of<std::uint32_t>(op, of, from, to);
        case DType::Int64: return fold_of<std::int64_t>(op, of, from, to);
        case DType::UInt64: return fold_of<std::uint64_t>(op, of, from, to);
        case DType::Float32: return fold_of<float>(op, of, from, to);
        case DType::Float64: return fold_of<double>(op, of, from, to);
        default: return nullptr;
    }
}

}  // namespace
}  // namespace unisono::block
