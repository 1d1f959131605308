// Selection by a bracket: a sample says between which two keys element kth lies. One pass over the
// lane puts what is below the bracket first and what is above last; only what is inside is sorted.
#include "library/sort/select.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "library/lanes.h"
#include "library/sort/order.h"
#include "library/sort/sort.h"
#include "library/sort/vector_sort.h"

namespace unisono::library {

namespace {

constexpr std::int64_t chunk = 1 << 15;
constexpr std::int64_t samples = 4096;

template <class Key>
struct Bracket {
    Key low, high;
};

template <class T>
KeyOf<T> key_of(T v, KeyOf<T> flip) {
    return static_cast<KeyOf<T>>(to_key<T, false>(v) ^ flip);
}

/// Keys between which element kth of the sorted lane lies, almost always.
template <class T>
Bracket<KeyOf<T>> bracket_of(const T* x, std::int64_t n, std::int64_t kth, KeyOf<T> flip) {
    using Key = KeyOf<T>;
    std::vector<Key> sample(samples);
    std::uint64_t state = 0x9E3779B97F4A7C15u;
    for (Key& s : sample) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        s = key_of(x[(state >> 33) % static_cast<std::uint64_t>(n)], flip);
    }
    std::sort(sample.begin(), sample.end());
    double at = static_cast<double>(kth) / static_cast<double>(n) * samples;
    double margin = 8 + 4 * std::sqrt(at * (1 - at / samples));
    auto low = static_cast<std::int64_t>(at - margin),
         high = static_cast<std::int64_t>(at + margin);
    return {low < 0 ? Key{0} : sample[static_cast<std::size_t>(low)],
            high >= samples ? static_cast<Key>(~Key{0}) : sample[static_cast<std::size_t>(high)]};
}

std::int64_t chunk_count(std::int64_t n) { return (n + chunk - 1) / chunk; }

template <class F>
void over_chunks(std::int64_t n, F body) {
    parallel_for(0, chunk_count(n), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) body(c, c * chunk, std::min(n, (c + 1) * chunk));
    });
}

/// Indices of a lane, those below the bracket first, then those inside, then those above, each in
/// order. Returns where the inside begins and ends.
template <class T, class Out, class F>
std::pair<std::int64_t, std::int64_t> divide(const T* x, std::int64_t n, Bracket<KeyOf<T>> bracket,
                                             KeyOf<T> flip, Out* out, F take) {
    struct Counts {
        std::int64_t below = 0, above = 0;
    };
    std::vector<Counts> counts(static_cast<std::size_t>(chunk_count(n)));
    over_chunks(n, [&](std::int64_t c, std::int64_t begin, std::int64_t end) {
        Counts found;
        for (std::int64_t k = begin; k < end; ++k) {
            auto key = key_of(x[k], flip);
            found.below += key < bracket.low;
            found.above += key > bracket.high;
        }
        counts[static_cast<std::size_t>(c)] = found;
    });
    Counts total;
    for (Counts& c : counts) {
        std::swap(c.below, total.below);
        std::swap(c.above, total.above);
        total.below += c.below;
        total.above += c.above;
    }
    std::int64_t inside = total.below, above = n - total.above;
    over_chunks(n, [&](std::int64_t c, std::int64_t begin, std::int64_t end) {
        Counts at = counts[static_cast<std::size_t>(c)];
        std::int64_t to_below = at.below, to_above = above + at.above;
        std::int64_t to_inside = inside + begin - at.below - at.above;
        // Written to all three places, kept in one: no branch to guess.
        constexpr std::int64_t piece = 1024;
        Out low[piece + 1], middle[piece + 1], high[piece + 1];
        for (std::int64_t first = begin; first < end; first += piece) {
            std::int64_t lows = 0, middles = 0, highs = 0;
            for (std::int64_t k = first; k < std::min(end, first + piece); ++k) {
                auto key = key_of(x[k], flip);
                Out element = take(k);
                bool is_low = key<bracket.low, is_high = key> bracket.high;
                low[lows] = middle[middles] = high[highs] = element;
                lows += is_low;
                highs += is_high;
                middles += !is_low && !is_high;
            }
            std::copy_n(low, lows, out + std::exchange(to_below, to_below + lows));
            std::copy_n(middle, middles, out + std::exchange(to_inside, to_inside + middles));
            std::copy_n(high, highs, out + std::exchange(to_above, to_above + highs));
        }
    });
    return {inside, above};
}

/// Where each element of the bracket's inside comes from, sorted.
template <class T>
void sort_places(const T* x, std::int64_t* places, std::int64_t n, bool descending) {
    std::vector<std::int64_t> from(places, places + n), order(from.size());
    std::vector<T> values;
    values.reserve(from.size());
    for (std::int64_t p : from) values.push_back(x[p]);
    // A vector of bool has no data(): its lanes are never this long.
    if constexpr (!std::is_same_v<T, bool>)
        argsort_lane(values.data(), n, order.data(), descending);
    for (std::int64_t k = 0; k < n; ++k)
        places[k] = from[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])];
}

template <class T>
bool falls(const T* x, std::int64_t begin, std::int64_t end) {
    bool any = false;
    for (std::int64_t k = begin; k < end; ++k) any |= !(x[k] <= x[k + 1]);
    return any;
}

/// Whether the elements are in order already, and none is NaN. Ends soon where they are not.
template <class T>
bool is_ordered(const T* x, std::int64_t n) {
    constexpr std::int64_t first = 1024;
    if (falls(x, 0, std::min(first, n - 1))) return false;
    std::atomic<bool> found{false};
    over_chunks(n - 1, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        if (!found.load(std::memory_order_relaxed) && falls(x, begin, end))
            found.store(true, std::memory_order_relaxed);
    });
    return !found.load(std::memory_order_relaxed);
}

/// Whether a lane is selected from by a bracket, or sorted whole.
template <class T>
bool by_bracket(std::int64_t n) {
    return n >= limits::full_sort_lane && !Complex<T> && sizeof(T) > 1;
}

template <class T>
void arg_partition_lane(const T* x, std::int64_t n, std::int64_t kth, std::int64_t* places) {
    if constexpr (!Complex<T>) {
        if (by_bracket<T>(n)) {
            if (is_ordered(x, n)) return std::iota(places, places + n, std::int64_t{0});
            auto [begin, end] = divide(x, n, bracket_of(x, n, kth, KeyOf<T>{0}), KeyOf<T>{0},
                                       places, [](std::int64_t k) { return k; });
            if (begin <= kth && kth < end) {
                sort_places(x, places + begin, end - begin, false);
                return;
            }
        }
    }
    argsort_lane(x, n, places, false);
}

template <class T>
void partition_lane(const T* x, std::int64_t n, std::int64_t kth, T* out) {
    if constexpr (!Complex<T>) {
        if (by_bracket<T>(n)) {
            if (is_ordered(x, n)) {
                over_chunks(n, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                    std::copy(x + begin, x + end, out + begin);
                });
                return;
            }
            auto [begin, end] = divide(x, n, bracket_of(x, n, kth, KeyOf<T>{0}), KeyOf<T>{0}, out,
                                       [x](std::int64_t k) { return x[k]; });
            if (begin <= kth && kth < end) {
                std::vector<T> inside(out + begin, out + end);
                if constexpr (!std::is_same_v<T, bool>)
                    sort_lane(inside.data(), end - begin, out + begin, false);
                return;
            }
        }
    }
    sort_lane(x, n, out, false);
}

template <class T>
void top_lane(const T* x, std::int64_t n, std::int64_t count, bool largest, T* values,
              std::int64_t* places) {
    std::vector<std::int64_t> found;
    if constexpr (!Complex<T>) {
        if (by_bracket<T>(n)) {
            KeyOf<T> flip = largest ? static_cast<KeyOf<T>>(~KeyOf<T>{0}) : KeyOf<T>{0};
            KeyOf<T> high = bracket_of(x, n, count - 1, flip).high;
            std::vector<std::vector<std::int64_t>> parts(static_cast<std::size_t>(chunk_count(n)));
            over_chunks(n, [&](std::int64_t c, std::int64_t begin, std::int64_t end) {
                for (std::int64_t k = begin; k < end; ++k) {
                    if (key_of(x[k], flip) <= high) [[unlikely]]
                        parts[static_cast<std::size_t>(c)].push_back(k);
                }
            });
            for (const auto& part : parts) found.insert(found.end(), part.begin(), part.end());
            if (static_cast<std::int64_t>(found.size()) < count) {
                found.clear();
            } else {
                sort_places(x, found.data(), static_cast<std::int64_t>(found.size()), largest);
            }
        }
    }
    if (found.empty()) {
        found.resize(static_cast<std::size_t>(n));
        argsort_lane(x, n, found.data(), largest);
    }
    for (std::int64_t k = 0; k < count; ++k) {
        places[k] = found[static_cast<std::size_t>(k)];
        values[k] = x[places[k]];
    }
}

}  // namespace

void host::partition(const primitives::Kth& kth, Views in, Views out) {
    const std::int64_t n = lane_extent(in[0]);
    dispatch_all(in[0].dtype, [&]<class T>() {
        for_lanes(in[0].layout->size() / n, n, [&](std::int64_t lane) {
            partition_lane(elements<const T>(in[0]) + lane * n, n, kth.place,
                           elements<T>(out[0]) + lane * n);
        });
    });
}

void host::argpartition(const primitives::Kth& kth, Views in, Views out) {
    const std::int64_t n = lane_extent(in[0]);
    dispatch_all(in[0].dtype, [&]<class T>() {
        for_lanes(in[0].layout->size() / n, n, [&](std::int64_t lane) {
            arg_partition_lane(elements<const T>(in[0]) + lane * n, n, kth.place,
                               elements<std::int64_t>(out[0]) + lane * n);
        });
    });
}

Array partition(const Array& a, int axis, std::int64_t kth, bool indices) {
    std::string what = indices ? "argpartition" : "partition";
    axis = checked_axis(what, axis, a.rank());
    Array lanes = lanes_of(a, axis);
    const auto& row = indices ? primitives::argpartition : primitives::partition;
    Array made = call(row, {&lanes, 1}, {kth});
    return axis_back(made, axis);
}

void host::top_k(const primitives::TopK& top, Views in, Views out) {
    const std::int64_t n = lane_extent(in[0]);
    dispatch_all(in[0].dtype, [&]<class T>() {
        for_lanes(in[0].layout->size() / n, n, [&](std::int64_t lane) {
            top_lane(elements<const T>(in[0]) + lane * n, n, top.k, top.largest,
                     elements<T>(out[0]) + lane * top.k,
                     elements<std::int64_t>(out[1]) + lane * top.k);
        });
    });
}

std::pair<Array, Array> top_k(const Array& a, int axis, std::int64_t k, bool largest) {
    axis = checked_axis("top_k", axis, a.rank());
    Array lanes = lanes_of(a, axis);
    const std::int64_t n = lanes.shape().back();
    if (k < 0 || k > n) {
        fail(ErrorKind::Value, "top_k: k must lie between 0 and the extent of the axis; got " +
                                   std::to_string(k) + " and " + std::to_string(n));
    }
    const auto made = call_wide(primitives::top_k, {&lanes, 1}, {k, largest});
    return {axis_back(made[0], axis), axis_back(made[1], axis)};
}

}  // namespace unisono::library
