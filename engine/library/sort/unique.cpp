// unique: sorts, then keeps the first of each run; small ranges of integers are marked in a table.
#include "library/sort/unique.h"

#include <vector>

#include "core/threads/parallel.h"
#include "library/lanes.h"
#include "library/sort/bucket_sort.h"
#include "library/sort/order.h"
#include "library/sort/sort.h"

namespace unisono::library {

namespace {

constexpr std::int64_t chunk = 1 << 15;

template <class T>
Array new_array(std::int64_t n, DType t, T*& data) {
    std::int64_t shape[] = {n};
    Array a = empty(shape, t, nullptr);
    data = reinterpret_cast<T*>(host_data(a, true));
    return a;
}

/// The numbers k of [0, n) for which first(k), in chunks: how many lie before each chunk.
template <class F>
std::vector<std::int64_t> count_firsts(std::int64_t n, F first) {
    std::int64_t chunks = (n + chunk - 1) / chunk;
    std::vector<std::int64_t> before_chunk(static_cast<std::size_t>(chunks) + 1);
    parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) {
            std::int64_t found = 0;
            for (std::int64_t k = c * chunk; k < std::min(n, (c + 1) * chunk); ++k)
                found += first(k);
            before_chunk[static_cast<std::size_t>(c) + 1] = found;
        }
    });
    for (std::size_t c = 1; c < before_chunk.size(); ++c) before_chunk[c] += before_chunk[c - 1];
    return before_chunk;
}

/// Calls visit(k, number of the run that k is in) for all k of [0, n), chunks side by side.
template <class F, class V>
void visit_runs(std::int64_t n, const std::vector<std::int64_t>& before_chunk, F first, V visit) {
    parallel_for(0, static_cast<std::int64_t>(before_chunk.size()) - 1, 1,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t c = begin; c < end; ++c) {
                         std::int64_t run = before_chunk[static_cast<std::size_t>(c)] - 1;
                         for (std::int64_t k = c * chunk; k < std::min(n, (c + 1) * chunk); ++k) {
                             bool starts = first(k);
                             run += starts;
                             visit(k, run, starts);
                         }
                     }
                 });
}

template <class T>
bool differ(T a, T b, bool equal_nan) {
    if (is_nan(a) && is_nan(b)) return !equal_nan;
    return before(a, b);
}

/// Integers whose range is not much larger than their number; false where it is.
template <class T>
bool mark_integers(const T* x, std::int64_t n, DType t, Array& values) {
    std::int64_t chunks = (n + chunk - 1) / chunk;
    std::vector<T> least(static_cast<std::size_t>(chunks)), most(least);
    auto over_chunks = [=](auto body) {
        parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t c = begin; c < end; ++c)
                body(static_cast<std::size_t>(c), c * chunk, std::min(n, (c + 1) * chunk));
        });
    };
    over_chunks([&](std::size_t c, std::int64_t begin, std::int64_t end) {
        T low = x[begin], high = low;
        for (std::int64_t k = begin; k < end; ++k) {
            low = std::min(low, x[k]);
            high = std::max(high, x[k]);
        }
        least[c] = low;
        most[c] = high;
    });
    T low = *std::min_element(least.begin(), least.end());
    std::uint64_t base = static_cast<std::uint64_t>(low);
    std::uint64_t range =
        static_cast<std::uint64_t>(*std::max_element(most.begin(), most.end())) - base;
    if (range >= static_cast<std::uint64_t>(std::min<std::int64_t>(n, 1 << 20))) return false;
    // A table for each part of the chunks: threads do not write into one another's.
    std::int64_t parts = range < (1 << 16) ? std::min<std::int64_t>(chunks, 16) : 1;
    std::vector<std::vector<std::uint8_t>> there(static_cast<std::size_t>(parts));
    parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) {
            auto& marks = there[static_cast<std::size_t>(p)];
            marks.resize(range + 1);
            for (std::int64_t k = p * n / parts; k < (p + 1) * n / parts; ++k)
                marks[static_cast<std::uint64_t>(x[k]) - base] = 1;
        }
    });
    std::int64_t found = 0;
    for (std::size_t k = 0; k <= range; ++k) {
        for (std::size_t p = 1; p < there.size(); ++p) there[0][k] |= there[p][k];
        found += there[0][k];
    }
    T* out;
    values = new_array<T>(found, t, out);
    for (std::size_t k = 0; k <= range; ++k) {
        if (there[0][k]) *out++ = static_cast<T>(base + k);
    }
    return true;
}

template <class T>
Array values_of(const Array& flat, const T* x, bool equal_nan) {
    std::int64_t n = flat.size();
    Array values;
    if constexpr (std::integral<T> && !std::is_same_v<T, bool>) {
        if (mark_integers(x, n, flat.dtype(), values)) return values;
    }
    Array sorted = sort(flat, 0, false);
    const T* s = reinterpret_cast<const T*>(host_data(sorted, false));
    auto first = [=](std::int64_t k) { return k == 0 || differ(s[k - 1], s[k], equal_nan); };
    auto before_chunk = count_firsts(n, first);
    T* out;
    values = new_array<T>(before_chunk.back(), flat.dtype(), out);
    visit_runs(n, before_chunk, first, [=](std::int64_t k, std::int64_t run, bool starts) {
        if (starts) out[run] = s[k];
    });
    return values;
}

template <class T>
Unique values_and_places(const Array& flat, const T* x, bool equal_nan) {
    std::int64_t n = flat.size();
    Array sorted = argsort(flat, 0, false);
    const auto* order = reinterpret_cast<const std::int64_t*>(host_data(sorted, false));
    auto first = [=](std::int64_t k) {
        return k == 0 || differ(x[order[k - 1]], x[order[k]], equal_nan);
    };
    auto before_chunk = count_firsts(n, first);
    std::int64_t found = before_chunk.back();
    Unique u;
    T* values;
    std::int64_t *index, *inverse, *counts;
    u.values = new_array<T>(found, flat.dtype(), values);
    u.index = new_array<std::int64_t>(found, DType::Int64, index);
    u.inverse = new_array<std::int64_t>(n, DType::Int64, inverse);
    u.counts = new_array<std::int64_t>(found, DType::Int64, counts);
    std::vector<std::int64_t> starts_at(static_cast<std::size_t>(found) + 1, n);
    visit_runs(n, before_chunk, first, [&](std::int64_t k, std::int64_t run, bool starts) {
        inverse[order[k]] = run;
        if (!starts) return;
        values[run] = x[order[k]];
        index[run] = order[k];
        starts_at[static_cast<std::size_t>(run)] = k;
    });
    for (std::int64_t run = 0; run < found; ++run) {
        auto at = static_cast<std::size_t>(run);
        counts[run] = starts_at[at + 1] - starts_at[at];
    }
    return u;
}

}  // namespace

Unique unique(const Array& a, bool places, bool equal_nan) {
    Array flat = packed(reshape(packed(a), {a.size()}));
    Unique u;
    if (flat.size() == 0) {
        std::int64_t none[] = {0};
        u.values = empty(none, a.dtype(), nullptr);
        u.index = u.inverse = u.counts = empty(none, DType::Int64, nullptr);
        return u;
    }
    const char* data = host_data(flat, false);
    dispatch_all(a.dtype(), [&]<class T>() {
        const T* x = reinterpret_cast<const T*>(data);
        if (places) {
            u = values_and_places(flat, x, equal_nan);
        } else {
            u.values = values_of(flat, x, equal_nan);
        }
    });
    return u;
}

}  // namespace unisono::library
