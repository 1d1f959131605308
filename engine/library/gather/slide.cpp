// Windows are the rows of a matrix whose rows lie one element apart: products of a matrix and a
// vector, a block of rows after the other, without the columns that are zero in all of them. Narrow
// windows are summed column by column instead, all elements of a block at a time, as are all that
// are no floats.
#include "library/gather/slide.h"

#include <algorithm>
#include <vector>

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "library/lanes.h"
#include "library/linalg/matvec.h"
#include "library/linalg/multiply_plain.h"
#include "primitives/primitive.h"

namespace unisono::library {

namespace {

constexpr std::int64_t block_rows = 512;
constexpr int together = 4;  ///< weights in one pass over a block

template <class T>
void slide_wide(const View& a, const View& v, std::int64_t lead, const View& out) {
    const std::int64_t n = a.layout->size(), m = v.layout->size(), count = out.layout->size();
    std::vector<T> padded(static_cast<std::size_t>(count + m - 1));
    const T* from = elements<const T>(a);
    std::copy_n(from, std::min(n, count + m - 1 - lead), padded.begin() + lead);
    for (std::int64_t begin = 0; begin < count; begin += block_rows) {
        const std::int64_t end = std::min(begin + block_rows, count);
        const std::int64_t first = std::max<std::int64_t>(0, lead - end + 1);
        const std::int64_t last = std::min(m, lead + n - begin);
        matrix_times_vector<T>({padded.data() + begin + first, end - begin, last - first, 1},
                               elements<const T>(v) + first, 1, elements<T>(out) + begin);
    }
}

/// Adds `terms` products with neighbouring weights to each of `count` sums, in the order of the
/// weights.
template <int terms, class T, class Sum = sum_of<T>>
void add_products(T* __restrict sums, const T* __restrict x, const T* weights, std::int64_t count) {
    Sum w[terms];
    for (int k = 0; k < terms; ++k) w[k] = static_cast<Sum>(weights[k]);
    for (std::int64_t i = 0; i < count; ++i) {
        T sum = sums[i];
        for (int k = 0; k < terms; ++k)
            sum = add_plain(sum, static_cast<T>(times(static_cast<Sum>(x[i + k]), w[k])));
        sums[i] = sum;
    }
}

/// Leaves the terms beyond `a` out, which need not be zero: weights may be infinite.
template <class T>
void slide_narrow(const View& a, const View& v, std::int64_t lead, const View& out) {
    const std::int64_t n = a.layout->size(), m = v.layout->size(), count = out.layout->size();
    const T *x = elements<const T>(a), *weights = elements<const T>(v);
    T* to = elements<T>(out);
    const std::int64_t blocks = (count + block_rows - 1) / block_rows;
    const std::int64_t grain = limits::thread_operations / (block_rows * m) + 1;
    parallel_for(0, blocks, grain, [=](std::int64_t first_block, std::int64_t last_block) {
        const std::int64_t end_of_all = std::min(last_block * block_rows, count);
        for (std::int64_t begin = first_block * block_rows; begin < end_of_all;
             begin += block_rows) {
            const std::int64_t end = std::min(begin + block_rows, count);
            std::fill(to + begin, to + end, T{});
            // Results to which weight k adds a term: from first_of(k) up to last_of(k).
            const auto first_of = [=](std::int64_t k) { return std::max(begin, lead - k); };
            const auto last_of = [=](std::int64_t k) { return std::min(end, lead - k + n); };
            const auto add_one = [=](std::int64_t k, std::int64_t from, std::int64_t until) {
                add_products<1>(to + from, x + from + k - lead, weights + k, until - from);
            };
            std::int64_t k = 0;
            for (; k + together <= m; k += together) {
                const std::int64_t first = first_of(k), last = last_of(k + together - 1);
                if (first >= last) {
                    for (int j = 0; j < together; ++j)
                        add_one(k + j, first_of(k + j), last_of(k + j));
                    continue;
                }
                for (int j = 1; j < together; ++j) add_one(k + j, first_of(k + j), first);
                add_products<together>(to + first, x + first + k - lead, weights + k, last - first);
                for (int j = 0; j + 1 < together; ++j) add_one(k + j, last, last_of(k + j));
            }
            for (; k < m; ++k) add_one(k, first_of(k), last_of(k));
        }
    });
}

}  // namespace

void host::slide(const primitives::Sliding& sliding, Views in, Views out) {
    dispatch_all_native(out[0].dtype, [&]<class T>() {
        if constexpr (std::is_floating_point_v<T>) {
            if (in[1].layout->size() > few_terms)
                return slide_wide<T>(in[0], in[1], sliding.lead, out[0]);
        }
        slide_narrow<T>(in[0], in[1], sliding.lead, out[0]);
    });
}

Array slide(const Array& a, const Array& v, std::int64_t lead, std::int64_t count) {
    if (is_half(a.dtype())) {  // sums are float32's, and rounded once
        const auto wide = [](const Array& x) { return astype(x, DType::Float32, false); };
        return astype(slide(wide(a), wide(v), lead, count), a.dtype(), false);
    }
    Array in[] = {packed(a), packed(v)};
    return call(primitives::slide, in, {lead, count});
}

}  // namespace unisono::library
