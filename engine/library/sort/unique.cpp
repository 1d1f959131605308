// unique: sorts, then keeps the first of each run; small ranges of integers are marked in a table.
#include "library/sort/unique.h"

#include <cstring>
#include <vector>

#include "core/limits.h"
#include "core/pool.h"
#include "core/threads/parallel.h"
#include "library/lanes.h"
#include "library/sort/bucket_sort.h"
#include "library/sort/order.h"
#include "library/sort/sort.h"

namespace unisono::library {

namespace {

constexpr std::int64_t chunk = 1 << 15;

/// Memory of the pool for the time of a call.
class Scratch {
  public:
    explicit Scratch(std::int64_t bytes) : data_(pool::allocate(bytes)), bytes_(bytes) {}
    ~Scratch() { pool::free(data_, bytes_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    template <class T>
    T* as() const {
        return static_cast<T*>(data_);
    }

  private:
    void* data_;
    std::int64_t bytes_;
};

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

/// Integers whose range is not much larger than their number: how many there are, or -1 where the
/// range is larger.
template <class T>
std::int64_t mark_integers(const T* x, std::int64_t n, T* values) {
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
    if (range >= static_cast<std::uint64_t>(std::min<std::int64_t>(n, 1 << 20))) return -1;
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
    for (std::size_t k = 0; k <= range; ++k) {
        if (there[0][k]) *values++ = static_cast<T>(base + k);
    }
    return found;
}

/// Writes the distinct values; returns how many there are.
template <class T>
std::int64_t values_of(const T* x, std::int64_t n, bool equal_nan, T* values) {
    if constexpr (std::integral<T> && !std::is_same_v<T, bool>) {
        const std::int64_t found = mark_integers(x, n, values);
        if (found >= 0) return found;
    }
    const Scratch sorted(n * std::int64_t{sizeof(T)});
    T* s = sorted.as<T>();
    sort_lane(x, n, s, false);
    auto first = [=](std::int64_t k) { return k == 0 || differ(s[k - 1], s[k], equal_nan); };
    auto before_chunk = count_firsts(n, first);
    visit_runs(n, before_chunk, first, [=](std::int64_t k, std::int64_t run, bool starts) {
        if (starts) values[run] = s[k];
    });
    return before_chunk.back();
}

template <class T>
std::int64_t values_and_places(const T* x, std::int64_t n, bool equal_nan, Views out) {
    const Scratch sorted(n * std::int64_t{sizeof(std::int64_t)});
    auto* order = sorted.as<std::int64_t>();
    argsort_lane(x, n, order, false);
    auto first = [=](std::int64_t k) {
        return k == 0 || differ(x[order[k - 1]], x[order[k]], equal_nan);
    };
    auto before_chunk = count_firsts(n, first);
    const std::int64_t found = before_chunk.back();
    T* values = elements<T>(out[0]);
    auto* index = elements<std::int64_t>(out[2]);
    auto* inverse = elements<std::int64_t>(out[3]);
    auto* counts = elements<std::int64_t>(out[4]);
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
    return found;
}

/// The first `count` elements; few of many are copied, so that the memory of all is not kept.
Array first_of(const Array& all, std::int64_t count) {
    if (count == all.size()) return all;
    View first = all.view();
    first.layout = Layout::contiguous({&count, 1});
    if (count >= all.size() / 2) return Array::of(first);
    if (count > limits::eager_call_elements || all.device()) return copy(Array::of(first));
    Array made = empty({&count, 1}, first.dtype, nullptr);
    made.view().storage->allocate();
    std::memcpy(made.view().data(), first.data(),
                static_cast<std::size_t>(count * size_of(first.dtype)));
    return made;
}

}  // namespace

void host::unique(const primitives::Distinct& distinct, Views in, Views out) {
    const std::int64_t n = in[0].layout->size();
    dispatch_all(in[0].dtype, [&]<class T>() {
        const T* x = elements<const T>(in[0]);
        *elements<std::int64_t>(out[1]) =
            distinct.places ? values_and_places(x, n, distinct.equal_nan, out)
                            : values_of(x, n, distinct.equal_nan, elements<T>(out[0]));
    });
}

Unique unique(const Array& a, bool places, bool equal_nan) {
    const Array flat = a.rank() == 1 ? packed(a) : packed(reshape(packed(a), {a.size()}));
    Unique u;
    if (flat.size() == 0) {
        std::int64_t none[] = {0};
        u.values = empty(none, a.dtype(), a.device());
        u.index = u.inverse = u.counts = empty(none, DType::Int64, a.device());
        return u;
    }
    const auto made = call_wide(primitives::unique, {&flat, 1}, {places, equal_nan});
    const std::int64_t found = item(made[1]).get<std::int64_t>();
    u.values = first_of(made[0], found);
    if (!places) return u;
    u.index = first_of(made[2], found);
    u.inverse = made[3];
    u.counts = first_of(made[4], found);
    return u;
}

}  // namespace unisono::library
