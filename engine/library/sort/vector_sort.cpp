// Sorts keys with Highway's vectorised quicksort where the build has its headers, else with
// std::sort.
//
// Highway compiles this file once per instruction set: what stands between HWY_BEFORE_NAMESPACE and
// HWY_AFTER_NAMESPACE is repeated, the rest stands once. Two sets are enough here: the one that the
// whole engine is built for, and AVX-512. Only headers are used, no library of Highway is linked.
#include "library/sort/vector_sort.h"

#if defined(UNISONO_HIGHWAY)

#define HWY_DISABLE_PCLMUL_AES 1  // sorting needs neither
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "library/sort/vector_sort.cpp"
// The order matters: the first of these includes this file again for each instruction set.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/contrib/sort/traits-inl.h>
#include <hwy/contrib/sort/vqsort-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace unisono::library::HWY_NAMESPACE {

template <class Key>
void sort(Key* keys, std::size_t n) {
    namespace hn = hwy::HWY_NAMESPACE;
    using Traits = hn::detail::TraitsLane<hn::detail::OrderAscending<Key>>;
    hn::SortTag<Key> tag;
    HWY_ALIGN Key buffer[hwy::SortConstants::BufNum<Key>(64 / sizeof(Key))];
    hn::Sort(tag, hn::detail::SharedTraits<Traits>(), keys, n, buffer);
}

void sort_16(std::uint16_t* keys, std::size_t n) { sort(keys, n); }
void sort_32(std::uint32_t* keys, std::size_t n) { sort(keys, n); }
void sort_64(std::uint64_t* keys, std::size_t n) { sort(keys, n); }

}  // namespace unisono::library::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cstring>

#include "core/processor.h"

namespace hwy {

// What chooses pivots: the same for the same length, so that time does not depend on addresses.
void Sorter::Fill24Bytes(const void*, std::size_t n, void* bytes) {
    const std::uint64_t seed[] = {n * 0x9E3779B97F4A7C15u + 1, 0x243F6A8885A308D3u,
                                  0x13198A2E03707344u};
    std::memcpy(bytes, seed, sizeof(seed));
}

}  // namespace hwy

namespace unisono::library {

#if HWY_TARGETS & HWY_AVX3
#define UNISONO_DISPATCH(function) \
    (has_avx512() ? N_AVX3::function(keys, n) : HWY_STATIC_DISPATCH(function)(keys, n))
#else
#define UNISONO_DISPATCH(function) HWY_STATIC_DISPATCH(function)(keys, n)
#endif

void vector_sort(std::uint16_t* keys, std::size_t n) { UNISONO_DISPATCH(sort_16); }
void vector_sort(std::uint32_t* keys, std::size_t n) { UNISONO_DISPATCH(sort_32); }
void vector_sort(std::uint64_t* keys, std::size_t n) { UNISONO_DISPATCH(sort_64); }

}  // namespace unisono::library
#endif  // HWY_ONCE

#else  // UNISONO_HIGHWAY

#include <algorithm>

namespace unisono::library {

void vector_sort(std::uint16_t* keys, std::size_t n) { std::sort(keys, keys + n); }
void vector_sort(std::uint32_t* keys, std::size_t n) { std::sort(keys, keys + n); }
void vector_sort(std::uint64_t* keys, std::size_t n) { std::sort(keys, keys + n); }

}  // namespace unisono::library

#endif
