// Windows are the rows of a matrix whose rows lie one element apart: products of a matrix and a
// vector, a block of rows after the other, without the columns that are zero in all of them. Narrow
// windows are summed column by column instead, all elements of a block at a time.
#include "library/gather/slide.h"

#include <algorithm>
#include <vector>

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "library/lanes.h"
#include "library/linalg/matvec.h"
#include "primitives/primitive.h"

namespace unisono::library {

namespace {

constexpr std::int64_t block_rows = 512;

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

/// Leaves the terms beyond `a` out, which need not be zero: weights may be infinite.
template <class T>
void slide_narrow(const View& a, const View& v, std::int64_t lead, const View& out) {
    const std::int64_t n = a.layout->size(), m = v.layout->size(), count = out.layout->size();
    const T *from = elements<const T>(a), *weights = elements<const T>(v);
    T* to = elements<T>(out);
    const std::int64_t blocks = (count + block_rows - 1) / block_rows;
    const std::int64_t grain = limits::thread_operations / (block_rows * m) + 1;
    parallel_for(0, blocks, grain, [=](std::int64_t first_block, std::int64_t last_block) {
        const std::int64_t end_of_all = std::min(last_block * block_rows, count);
        for (std::int64_t begin = first_block * block_rows; begin < end_of_all;
             begin += block_rows) {
            const std::int64_t end = std::min(begin + block_rows, count);
            std::fill(to + begin, to + end, T{});
            for (std::int64_t k = 0; k < m; ++k) {
                const std::int64_t first = std::max(begin, lead - k);
                const std::int64_t terms = std::min(end, lead - k + n) - first;
                const T* __restrict x = from + first - lead + k;
                T* __restrict sum = to + first;
                for (std::int64_t i = 0; i < terms; ++i) sum[i] += x[i] * weights[k];
            }
        }
    });
}

template <class T>
void slide_all(const View& a, const View& v, std::int64_t lead, const View& out) {
    if (v.layout->size() <= few_terms) return slide_narrow<T>(a, v, lead, out);
    slide_wide<T>(a, v, lead, out);
}

}  // namespace

void host::slide(const primitives::Sliding& sliding, Views in, Views out) {
    if (out[0].dtype == DType::Float64)
        slide_all<double>(in[0], in[1], sliding.lead, out[0]);
    else
        slide_all<float>(in[0], in[1], sliding.lead, out[0]);
}

Array slide(const Array& a, const Array& v, std::int64_t lead, std::int64_t count) {
    Array in[] = {packed(a), packed(v)};
    return call(primitives::slide, in, {lead, count});
}

}  // namespace unisono::library
