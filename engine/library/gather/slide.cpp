// Windows are the rows of a matrix whose rows lie one element apart: products of a matrix and a
// vector, a block of rows after the other, without the columns that are zero in all of them.
#include "library/gather/slide.h"

#include <algorithm>
#include <vector>

#include "library/lanes.h"
#include "library/linalg/matvec.h"
#include "primitives/primitive.h"

namespace unisono::library {

namespace {

constexpr std::int64_t block_rows = 512;

template <class T>
void slide_into(const View& a, const View& v, std::int64_t lead, const View& out) {
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

}  // namespace

void host::slide(const primitives::Sliding& sliding, Views in, Views out) {
    if (out[0].dtype == DType::Float64)
        slide_into<double>(in[0], in[1], sliding.lead, out[0]);
    else
        slide_into<float>(in[0], in[1], sliding.lead, out[0]);
}

Array slide(const Array& a, const Array& v, std::int64_t lead, std::int64_t count) {
    Array in[] = {packed(a), packed(v)};
    return call(primitives::slide, in, {lead, count});
}

}  // namespace unisono::library
