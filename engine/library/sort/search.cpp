// searchsorted: halving without branches, several values in work at once.
#include "library/sort/search.h"

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "library/lanes.h"
#include "library/sort/order.h"

namespace unisono::library {

namespace {

template <bool right, class T>
void search(const T* sorted, std::int64_t n, const T* values, std::int64_t count,
            std::int64_t* places) {
    constexpr int step = 8;
    for (std::int64_t k = 0; k < count; k += step) {
        std::int64_t m = std::min<std::int64_t>(step, count - k);
        T wanted[step] = {};
        std::int64_t base[step] = {};
        for (std::int64_t j = 0; j < m; ++j) wanted[j] = values[k + j];
        auto left_of = [&](std::int64_t at, T v) {
            return right ? !before(v, sorted[at]) : before(sorted[at], v);
        };
        for (std::int64_t length = n; length > 1; length -= length / 2) {
            std::int64_t half = length / 2;
            for (int j = 0; j < step; ++j)
                base[j] += left_of(base[j] + half - 1, wanted[j]) ? half : 0;
        }
        for (std::int64_t j = 0; j < m; ++j)
            places[k + j] = n == 0 ? 0 : base[j] + (left_of(base[j], wanted[j]) ? 1 : 0);
    }
}

}  // namespace

void host::search_sorted(const primitives::Side& side, Views in, Views out) {
    auto* places = elements<std::int64_t>(out[0]);
    dispatch_all(in[0].dtype, [&]<class T>() {
        const T* a = elements<const T>(in[0]);
        const T* v = elements<const T>(in[1]);
        const std::int64_t n = in[0].layout->size();
        parallel_for(0, in[1].layout->size(), limits::thread_search,
                     [&](std::int64_t begin, std::int64_t end) {
                         auto f = side.right ? search<true, T> : search<false, T>;
                         f(a, n, v + begin, end - begin, places + begin);
                     });
    });
}

Array search_sorted(const Array& sorted, const Array& values, bool right) {
    UNISONO_ASSERT(sorted.rank() == 1 && sorted.dtype() == values.dtype());
    Array in[] = {packed(sorted), packed(values)};
    return call(primitives::search_sorted, in, {right});
}

}  // namespace unisono::library
