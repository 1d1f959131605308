// Sorts many keys on all threads: keys go into buckets by sampled splitters, buckets are sorted
// apart.
//
// Keys are totally ordered, so the result does not depend on threads, buckets or pivots.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/threads/parallel.h"
#include "library/sort/vector_sort.h"

namespace unisono::library {

constexpr std::int64_t parallel_sort_elements = 1 << 16;  ///< from here on buckets pay
constexpr std::int64_t bucket_elements = 1 << 13;         ///< smaller buckets do not pay
constexpr int most_buckets = 256;                         ///< their numbers fit in a byte
constexpr int few_buckets = 16;  ///< up to here every splitter is compared: faster than a search

/// The splitters of a number of buckets that is a power of two, as a search tree without branches.
template <class Key>
class Splitters {
  public:
    /// `get(k)` is key k of n. Bits of `together` never decide: keys that differ only there stay
    /// together.
    template <class Get>
    Splitters(std::int64_t n, int buckets, Key together, Get get) : buckets_(buckets) {
        std::int64_t samples = buckets * 16;
        std::vector<Key> sample(static_cast<std::size_t>(samples));
        std::uint64_t state = 0x9E3779B97F4A7C15u;
        for (Key& s : sample) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            s = get(static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(n)));
        }
        vector_sort(sample.data(), sample.size());
        for (int b = 1; b < buckets; ++b)
            rising_[b - 1] = sample[static_cast<std::size_t>(b * 16 - 1)] | together;
        fill(sample, together, 1, 0, buckets);
        levels_ = std::countr_zero(static_cast<unsigned>(buckets));
    }
    /// The buckets of `count` keys.
    template <int count>
    void classify(const Key* keys, std::uint8_t* bucket) const {
        if (buckets_ <= few_buckets) {
            Key below[count] = {};
            for (int b = 0; b < buckets_ - 1; ++b) {
                Key splitter = rising_[b];
                for (int j = 0; j < count; ++j) below[j] += keys[j] > splitter;
            }
            for (int j = 0; j < count; ++j) bucket[j] = static_cast<std::uint8_t>(below[j]);
            return;
        }
        std::uint32_t node[count];
        for (int j = 0; j < count; ++j) node[j] = 1;
        for (int level = 0; level < levels_; ++level) {
            for (int j = 0; j < count; ++j) node[j] = 2 * node[j] + (keys[j] > tree_[node[j]]);
        }
        for (int j = 0; j < count; ++j)
            bucket[j] = static_cast<std::uint8_t>(node[j] - static_cast<std::uint32_t>(buckets_));
    }

  private:
    /// Node `at` divides the buckets [low, high).
    void fill(const std::vector<Key>& sample, Key together, int at, int low, int high) {
        if (high - low < 2) return;
        int middle = (low + high) / 2;
        tree_[at] = sample[static_cast<std::size_t>(middle * 16 - 1)] | together;
        fill(sample, together, 2 * at, low, middle);
        fill(sample, together, 2 * at + 1, middle, high);
    }
    Key tree_[2 * most_buckets] = {};
    Key rising_[most_buckets] = {};
    int buckets_, levels_ = 0;
};

/// Sorts n keys, which `get(k)` gives, into `out`. Then `finish(begin, end)` sees each bucket, a
/// range of `out`, once, on any thread.
template <class Key, class Get, class Finish>
void sort_keys(std::int64_t n, Key together, Key* out, Get get, Finish finish) {
    if (n < parallel_sort_elements || in_parallel() || thread_count() == 1) {
        for (std::int64_t k = 0; k < n; ++k) out[k] = get(k);
        vector_sort(out, static_cast<std::size_t>(n));
        finish(std::int64_t{0}, n);
        return;
    }
    // Several per thread, so that the last ones even the work out.
    auto wanted = std::min<std::uint64_t>(4 * static_cast<std::uint64_t>(thread_count()),
                                          static_cast<std::uint64_t>(n / bucket_elements));
    int buckets =
        static_cast<int>(std::clamp<std::uint64_t>(std::bit_ceil(wanted), 4, most_buckets));
    Splitters<Key> splitters(n, buckets, together, get);
    constexpr int step = 32;
    std::int64_t chunk = std::max<std::int64_t>(1 << 14, (n / 128 + step - 1) / step * step);
    std::int64_t chunks = (n + chunk - 1) / chunk;
    std::vector<std::int64_t> place(static_cast<std::size_t>(chunks * buckets));
    auto bucket_of = std::make_unique_for_overwrite<std::uint8_t[]>(static_cast<std::size_t>(n));
    std::uint8_t* bucket = bucket_of.get();
    parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) {
            std::int64_t* counts = &place[static_cast<std::size_t>(c * buckets)];
            std::int64_t last = std::min(n, (c + 1) * chunk);
            std::int64_t k = c * chunk;
            for (; k + step <= last; k += step) {
                Key keys[step];
                for (int j = 0; j < step; ++j) keys[j] = get(k + j);
                splitters.template classify<step>(keys, &bucket[k]);
                for (int j = 0; j < step; ++j) ++counts[bucket[k + j]];
            }
            for (; k < last; ++k) {
                Key key[] = {get(k)};
                splitters.template classify<1>(key, &bucket[k]);
                ++counts[bucket[k]];
            }
        }
    });
    std::vector<std::int64_t> start(static_cast<std::size_t>(buckets) + 1);
    std::int64_t total = 0;
    for (int b = 0; b < buckets; ++b) {
        start[static_cast<std::size_t>(b)] = total;
        for (std::int64_t c = 0; c < chunks; ++c) {
            std::int64_t& p = place[static_cast<std::size_t>(c * buckets + b)];
            total += std::exchange(p, total);
        }
    }
    start[static_cast<std::size_t>(buckets)] = n;
    parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) {
            std::int64_t* to = &place[static_cast<std::size_t>(c * buckets)];
            std::int64_t last = std::min(n, (c + 1) * chunk);
            for (std::int64_t k = c * chunk; k < last; ++k) out[to[bucket[k]]++] = get(k);
        }
    });
    parallel_for(0, buckets, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = begin; b < end; ++b) {
            std::int64_t from = start[static_cast<std::size_t>(b)];
            std::int64_t to = start[static_cast<std::size_t>(b) + 1];
            vector_sort(out + from, static_cast<std::size_t>(to - from));
            finish(from, to);
        }
    });
}

}  // namespace unisono::library
