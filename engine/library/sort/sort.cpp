// Sorts by keys. Values become unsigned keys of their size, are sorted as such and become values
// again.
//
// argsort packs the leading bits of a key and the element's index into 64 bits, so that one sort of
// integers gives a stable order. Where keys have more bits than fit, elements that agree in the
// leading ones are neighbours afterwards and are put in order among themselves.
#include "library/sort/sort.h"

#include <cstring>
#include <functional>
#include <numeric>

#include "core/limits.h"
#include "library/lanes.h"
#include "library/sort/bucket_sort.h"
#include "library/sort/order.h"

namespace unisono::library {

namespace {

template <class T>
KeyOf<T> key_at(const T* x, std::int64_t k, KeyOf<T> flip) {
    return static_cast<KeyOf<T>>(to_key<T, true>(x[k]) ^ flip);
}

/// Bytes: counted.
template <class T>
void sort_bytes(const T* x, std::int64_t n, T* out, KeyOf<T> flip) {
    std::int64_t counts[256] = {};
    for (std::int64_t k = 0; k < n; ++k) ++counts[key_at(x, k, flip)];
    for (int key = 0; key < 256; ++key) {
        T value = from_key<T>(static_cast<KeyOf<T>>(static_cast<KeyOf<T>>(key) ^ flip));
        out = std::fill_n(out, counts[key], value);
    }
}

/// Few elements: each is put in its place among those before it.
template <class T>
void sort_few(const T* x, std::int64_t n, T* out, KeyOf<T> flip) {
    KeyOf<T> keys[limits::insertion_sort_lane];
    for (std::int64_t k = 0; k < n; ++k) {
        const KeyOf<T> key = key_at(x, k, flip);
        std::int64_t to = k;
        for (; to > 0 && keys[to - 1] > key; --to) keys[to] = keys[to - 1];
        keys[to] = key;
    }
    for (std::int64_t k = 0; k < n; ++k)
        out[k] = from_key<T>(static_cast<KeyOf<T>>(keys[k] ^ flip));
}

/// Keys that stand where elements go become these.
template <class T>
void write_elements(T* out, std::int64_t begin, std::int64_t end, KeyOf<T> flip) {
    for (std::int64_t k = begin; k < end; ++k) {
        KeyOf<T> key;
        std::memcpy(&key, out + k, sizeof(key));
        T value = from_key<T>(static_cast<KeyOf<T>>(key ^ flip));
        std::memcpy(out + k, &value, sizeof(T));
    }
}

}  // namespace

template <class T>
void sort_lane(const T* x, std::int64_t n, T* out, bool descending) {
    if constexpr (Complex<T>) {
        std::copy_n(x, n, out);
        std::stable_sort(out, out + n,
                         [=](T a, T b) { return descending ? before(b, a) : before(a, b); });
    } else {
        using Key = KeyOf<T>;
        Key flip = descending ? static_cast<Key>(~Key{0}) : Key{0};
        if (n <= limits::insertion_sort_lane) {
            sort_few(x, n, out, flip);
        } else if constexpr (sizeof(T) == 1) {
            sort_bytes(x, n, out, flip);
        } else {
            Key* keys = reinterpret_cast<Key*>(out);
            sort_keys<Key>(
                n, 0, keys, [=](std::int64_t k) { return key_at(x, k, flip); },
                [=](std::int64_t begin, std::int64_t end) {
                    write_elements(out, begin, end, flip);
                });
        }
    }
}

template <class T>
void sort_run(T* x, std::int64_t n) {
    if constexpr (Complex<T> || sizeof(T) == 1) {
        sort_lane(x, n, x, false);
    } else if (n <= limits::insertion_sort_lane) {
        sort_few(x, n, x, KeyOf<T>{0});
    } else {
        using Key = KeyOf<T>;
        for (std::int64_t k = 0; k < n; ++k) {
            const Key key = key_at(x, k, Key{0});
            std::memcpy(x + k, &key, sizeof(Key));
        }
        vector_sort(reinterpret_cast<Key*>(x), static_cast<std::size_t>(n));
        write_elements(x, 0, n, Key{0});
    }
}

namespace {

struct Span64 {
    std::uint64_t low, range;
};

/// Least key, and how far the largest is from it.
template <class Get>
Span64 span_of(std::int64_t n, Get get) {
    constexpr std::int64_t chunk = 1 << 15;
    std::int64_t chunks = (n + chunk - 1) / chunk;
    std::vector<std::uint64_t> low(static_cast<std::size_t>(chunks)), high(low);
    parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) {
            std::uint64_t least = ~std::uint64_t{0}, most = 0;
            for (std::int64_t k = c * chunk; k < std::min(n, (c + 1) * chunk); ++k) {
                std::uint64_t key = get(k);
                least = std::min(least, key);
                most = std::max(most, key);
            }
            low[static_cast<std::size_t>(c)] = least;
            high[static_cast<std::size_t>(c)] = most;
        }
    });
    std::uint64_t least = *std::min_element(low.begin(), low.end());
    return {least, *std::max_element(high.begin(), high.end()) - least};
}

using KeyFunction = std::function<std::uint64_t(std::int64_t)>;

/// Writes to `order` the numbers 0 .. n - 1, sorted by get(number), equal keys by number.
template <class Get>
void order_by_key(std::int64_t n, std::uint64_t* order, Get get) {
    if (n == 0) return;
    int index_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
    Span64 span = span_of(n, get);
    int shift = std::max(0, static_cast<int>(std::bit_width(span.range)) - (64 - index_bits));
    std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1, low = span.low;
    auto packed_key = [=](std::int64_t k) {
        return ((get(k) - low) >> shift) << index_bits | static_cast<std::uint64_t>(k);
    };
    auto unpack = [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end;) {
            std::int64_t last = k + 1;
            if (shift > 0) {
                std::uint64_t head = order[k] >> index_bits;
                while (last < end && order[last] >> index_bits == head) ++last;
            }
            for (std::int64_t j = k; j < last; ++j) order[j] &= index_mask;
            if (last - k > 1) {
                // Equal in the leading bits: ordered by all, among themselves.
                std::vector<std::uint64_t> own(order + k, order + last), ranks(own.size());
                auto full = [&](std::int64_t j) {
                    return get(static_cast<std::int64_t>(own[static_cast<std::size_t>(j)]));
                };
                bool sorted = true;
                for (std::int64_t j = 1; j < last - k && sorted; ++j)
                    sorted = full(j - 1) <= full(j);
                if (!sorted && last - k < 64) {
                    std::stable_sort(order + k, order + last,
                                     [&](std::uint64_t a, std::uint64_t b) {
                                         return get(static_cast<std::int64_t>(a)) <
                                                get(static_cast<std::int64_t>(b));
                                     });
                } else if (!sorted) {
                    // The range of these keys is below 2^shift: at most one more round.
                    order_by_key(last - k, ranks.data(), KeyFunction(full));
                    for (std::int64_t j = k; j < last; ++j)
                        order[j] = own[ranks[static_cast<std::size_t>(j - k)]];
                }
            }
            k = last;
        }
    };
    sort_keys<std::uint64_t>(n, index_mask, order, packed_key, unpack);
}

}  // namespace

template <class T>
void argsort_lane(const T* x, std::int64_t n, std::int64_t* places, bool descending) {
    if constexpr (Complex<T>) {
        std::iota(places, places + n, std::int64_t{0});
        std::stable_sort(places, places + n, [=](std::int64_t a, std::int64_t b) {
            return descending ? before(x[b], x[a]) : before(x[a], x[b]);
        });
    } else {
        using Key = KeyOf<T>;
        Key flip = descending ? static_cast<Key>(~Key{0}) : Key{0};
        order_by_key(n, reinterpret_cast<std::uint64_t*>(places), [=](std::int64_t k) {
            return static_cast<std::uint64_t>(static_cast<Key>(to_key<T, false>(x[k]) ^ flip));
        });
    }
}

#define UNISONO_DTYPE(Name, ctype, ...)                                       \
    template void sort_lane<ctype>(const ctype*, std::int64_t, ctype*, bool); \
    template void sort_run<ctype>(ctype*, std::int64_t);                      \
    template void argsort_lane<ctype>(const ctype*, std::int64_t, std::int64_t*, bool);
#include "core/dtype.def"

void host::sort(const primitives::Sorting& order, Views in, Views out) {
    const std::int64_t n = lane_extent(in[0]);
    dispatch_all(in[0].dtype, [&]<class T>() {
        for_lanes(in[0].layout->size() / n, n, [&](std::int64_t k) {
            sort_lane(elements<const T>(in[0]) + k * n, n, elements<T>(out[0]) + k * n,
                      order.descending);
        });
    });
}

void host::argsort(const primitives::Sorting& order, Views in, Views out) {
    const std::int64_t n = lane_extent(in[0]);
    dispatch_all(in[0].dtype, [&]<class T>() {
        for_lanes(in[0].layout->size() / n, n, [&](std::int64_t k) {
            argsort_lane(elements<const T>(in[0]) + k * n, n,
                         elements<std::int64_t>(out[0]) + k * n, order.descending);
        });
    });
}

Array sort(const Array& a, int axis, bool descending) {
    axis = checked_axis("sort", axis, a.rank());
    Array lanes = lanes_of(a, axis);
    return axis_back(call(primitives::sort, {&lanes, 1}, {descending}), axis);
}

Array argsort(const Array& a, int axis, bool descending) {
    axis = checked_axis("argsort", axis, a.rank());
    Array lanes = lanes_of(a, axis);
    return axis_back(call(primitives::argsort, {&lanes, 1}, {descending}), axis);
}

}  // namespace unisono::library
