// Ranges of the order, by the keys of sort.cpp.
#include "library/sort/ranges.h"

#include "library/lanes.h"
#include "library/sort/order.h"
#include "library/sort/sort.h"

namespace unisono::library {

namespace {

Dealing dealing_of(const View& vector, const View& cuts) {
    const std::int64_t n = vector.layout->size(), count = cuts.layout->size();
    return dispatch_all(vector.dtype, [&]<class T>() -> Dealing {
        if constexpr (Complex<T>) {
            fail(ErrorKind::Runtime, "ranges: complex numbers have no keys");
        } else {
            // Zeros of either sign are equal: they stay together, in their order.
            const T *x = elements<const T>(vector), *c = elements<const T>(cuts);
            std::vector<KeyOf<T>> rising;
            for (std::int64_t k = 0; k < count; ++k) rising.push_back(to_key<T, false>(c[k]));
            return Dealing(n, Splitters<KeyOf<T>>(rising),
                           [=](std::int64_t k) { return to_key<T, false>(x[k]); });
        }
    });
}

}  // namespace

Ranges::Ranges(const View& vector, const View& cuts)
    : dealing_(dealing_of(vector, cuts)),
      sizes_(std::span(dealing_.sizes()).first(static_cast<std::size_t>(cuts.layout->size()) + 1)) {
}

template <class T, class Get>
void Ranges::deal_items(std::span<char* const> to, Get get) const {
    std::vector<T*> begins;
    for (char* begin : to) begins.push_back(reinterpret_cast<T*>(begin));
    begins.resize(dealing_.sizes().size());  // to the others nothing goes
    dealing_.deal(std::span<T* const>(begins), get);
}

void Ranges::deal(const View& vector, std::span<char* const> to) const {
    dispatch_all(vector.dtype, [&]<class T>() {
        const T* x = elements<const T>(vector);
        deal_items<T>(to, [=](std::int64_t k) { return x[k]; });
    });
}

void Ranges::deal_numbers(std::int64_t first, std::span<char* const> to) const {
    deal_items<std::int64_t>(to, [=](std::int64_t k) { return first + k; });
}

void sort_runs(const View& vector, std::span<const std::int64_t> bounds) {
    const auto runs = static_cast<std::int64_t>(bounds.size()) - 1;
    dispatch_all(vector.dtype, [&]<class T>() {
        T* x = elements<T>(vector);
        parallel_for(0, runs, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t r = begin; r < end; ++r) {
                const std::int64_t from = bounds[static_cast<std::size_t>(r)];
                sort_run(x + from, bounds[static_cast<std::size_t>(r) + 1] - from);
            }
        });
    });
}

}  // namespace unisono::library
