// Sorts many keys on all threads: keys go into buckets by sampled splitters, buckets are sorted
// apart.
//
// Keys are totally ordered, so the result does not depend on threads, buckets or pivots.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
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
        finish();
    }
    /// Given in order; there may be fewer than most_buckets.
    explicit Splitters(std::span<const Key> rising)
        : buckets_(static_cast<int>(std::bit_ceil(rising.size() + 1))) {
        // Nothing is above the last ones, so that their buckets stay empty.
        std::fill(rising_, rising_ + buckets_ - 1, static_cast<Key>(~Key{0}));
        std::ranges::copy(rising, rising_);
        finish();
    }
    int buckets() const { return buckets_; }
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
    void finish() {
        fill(1, 0, buckets_);
        levels_ = std::countr_zero(static_cast<unsigned>(buckets_));
    }
    /// Node `at` divides the buckets [low, high).
    void fill(int at, int low, int high) {
        if (high - low < 2) return;
        int middle = (low + high) / 2;
        tree_[at] = rising_[middle - 1];
        fill(2 * at, low, middle);
        fill(2 * at + 1, middle, high);
    }
    Key tree_[2 * most_buckets] = {};
    Key rising_[most_buckets] = {};
    int buckets_, levels_ = 0;
};

/// Which bucket each of n keys goes to, found on all threads. Keys of a bucket keep their order.
class Dealing {
  public:
    /// `get(k)` is key k.
    template <class Key, class Get>
    Dealing(std::int64_t n, const Splitters<Key>& splitters, Get get)
        : n_(n),
          buckets_(splitters.buckets()),
          chunk_(std::max<std::int64_t>(1 << 14, (n / 128 + step - 1) / step * step)),
          chunks_((n + chunk_ - 1) / chunk_),
          before_(static_cast<std::size_t>(chunks_ * buckets_)),
          bucket_(std::make_unique_for_overwrite<std::uint8_t[]>(static_cast<std::size_t>(n))) {
        std::uint8_t* bucket = bucket_.get();
        parallel_for(0, chunks_, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t c = begin; c < end; ++c) {
                std::int64_t* counts = &before_[static_cast<std::size_t>(c * buckets_)];
                std::int64_t last = std::min(n, (c + 1) * chunk_);
                std::int64_t k = c * chunk_;
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
        for (int b = 0; b < buckets_; ++b) {
            std::int64_t total = 0;
            for (std::int64_t c = 0; c < chunks_; ++c) {
                std::int64_t& count = before_[static_cast<std::size_t>(c * buckets_ + b)];
                total += std::exchange(count, total);
            }
            sizes_.push_back(total);
        }
    }
    /// Of the buckets.
    const std::vector<std::int64_t>& sizes() const { return sizes_; }
    /// Writes item k of n, which `get(k)` gives, behind those before it from to[its bucket] on.
    template <class T, class Get>
    void deal(std::span<T* const> to, Get get) const {
        const std::uint8_t* bucket = bucket_.get();
        parallel_for(0, chunks_, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t c = begin; c < end; ++c) {
                T* at[most_buckets];
                for (int b = 0; b < buckets_; ++b)
                    at[b] = to[static_cast<std::size_t>(b)] +
                            before_[static_cast<std::size_t>(c * buckets_ + b)];
                std::int64_t last = std::min(n_, (c + 1) * chunk_);
                for (std::int64_t k = c * chunk_; k < last; ++k) *at[bucket[k]]++ = get(k);
            }
        });
    }

  private:
    static constexpr int step = 32;
    std::int64_t n_;
    int buckets_;
    std::int64_t chunk_, chunks_;
    std::vector<std::int64_t> before_;  ///< by chunk and bucket: how many in chunks before
    std::vector<std::int64_t> sizes_;
    std::unique_ptr<std::uint8_t[]> bucket_;
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
    const Dealing dealing(n, splitters, get);
    std::vector<std::int64_t> start{0};
    std::vector<Key*> to;
    for (std::int64_t size : dealing.sizes()) {
        to.push_back(out + start.back());
        start.push_back(start.back() + size);
    }
    dealing.deal(std::span<Key* const>(to), get);
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
