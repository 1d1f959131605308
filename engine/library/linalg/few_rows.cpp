// Few rows times a matrix that no cache holds: one pass over it. A library that packs the matrix
// first reads it, writes it and reads it again, which nothing repays when rows are few.
#include <vector>

#include "library/linalg/matvec.h"
#include "library/linalg/matvec_pieces.h"

namespace unisono::library {

using namespace matvec;

namespace {

constexpr std::int64_t panel = 8;  ///< rows of the matrix that are added at a time

/// The elements of the vectors for rows [begin, end) of the matrix: panel by panel, in each vector
/// by vector.
template <class T>
std::unique_ptr<T[]> pack_panels(const FewRows<T>& x, std::int64_t begin, std::int64_t end) {
    auto packed =
        std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>((end - begin) * x.count));
    T* to = packed.get();
    for (std::int64_t k = begin; k < end; k += panel) {
        for (std::int64_t m = 0; m < x.count; ++m) {
            for (std::int64_t r = k; r < std::min(end, k + panel); ++r)
                *to++ = x.data[m * x.row + r * x.column];
        }
    }
    return packed;
}

/// sums[m] += x[m] of `rows` rows times these rows, for all vectors; x as in pack_panels.
template <class T, int rows>
void add_panel(const T* a, std::int64_t leading, std::int64_t columns, const T* x,
               const std::vector<T*>& sums, std::int64_t first) {
    constexpr std::int64_t w = width<T>, line = 64 / std::int64_t{sizeof(T)};
    std::int64_t j = 0;
    for (; j + w <= columns; j += w) {
        Vector<T> row[rows];
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) row[r] = load(a + r * leading + j);
        if (j % line == 0) prefetch_next_rows<T, rows>(a, leading, j);
        const T* factor = x;
        for (T* of : sums) {
            Vector<T> sum = load(of + first + j);
#pragma GCC unroll 8
            for (int r = 0; r < rows; ++r) sum += row[r] * (factor[r] - Vector<T>{});  // keeps -0
            std::memcpy(of + first + j, &sum, sizeof sum);
            factor += rows;
        }
    }
    for (std::size_t m = 0; m < sums.size(); ++m) {
        for (std::int64_t k = j; k < columns; ++k) {
            T sum = sums[m][first + k];
            for (int r = 0; r < rows; ++r)
                sum += a[r * leading + k] * x[static_cast<std::int64_t>(m) * rows + r];
            sums[m][first + k] = sum;
        }
    }
}

template <class T>
void add_panels(const T* a, std::int64_t leading, std::int64_t rows, std::int64_t columns,
                const T* x, const std::vector<T*>& sums, std::int64_t first) {
    const auto count = static_cast<std::int64_t>(sums.size());
    std::int64_t k = 0;
    for (; k + panel <= rows; k += panel, x += panel * count)
        add_panel<T, panel>(a + k * leading, leading, columns, x, sums, first);
    // What is left: the rows of a vector lie side by side.
    std::vector<T> factors(sums.size());
    for (std::int64_t r = k; r < rows; ++r) {
        for (std::int64_t m = 0; m < count; ++m)
            factors[static_cast<std::size_t>(m)] = x[m * (rows - k) + r - k];
        add_panel<T, 1>(a + r * leading, leading, columns, factors.data(), sums, first);
    }
}

}  // namespace

template <class T>
bool is_worth_one_pass(const DenseRows<T>& a, std::int64_t count) {
    // Measured: the larger the matrix, the more rows until the library's faster sums repay packing.
    constexpr std::int64_t most = 16, bytes_per_row = 8 << 20;
    const std::int64_t bytes = a.rows * a.columns * std::int64_t{sizeof(T)};
    return count > 1 && count <= std::min(most, bytes / bytes_per_row);
}

template <class T>
void few_rows_times_matrix(const DenseRows<T>& a, const FewRows<T>& x, T* out) {
    constexpr std::int64_t held = 1 << 16;  // bytes of sums that the caches keep
    std::vector<RowParts<T>> parts;
    parts.reserve(static_cast<std::size_t>(x.count));
    for (std::int64_t m = 0; m < x.count; ++m) parts.emplace_back(a, out + m * a.columns);
    const std::int64_t wide =
        std::max<std::int64_t>(512, held / (x.count * std::int64_t{sizeof(T)}) / 64 * 64);
    const std::int64_t across = (a.columns + wide - 1) / wide;
    const auto& cut = parts.front();
    parallel_for(0, cut.count * across, 1, [&](std::int64_t first, std::int64_t last) {
        std::vector<T*> sums(parts.size());
        for (std::int64_t q = first; q < last; ++q) {
            const std::int64_t part = q / across, from = q % across * wide;
            const std::int64_t begin = part * cut.rows, rows = cut.rows_of(part);
            const std::int64_t columns = std::min(wide, a.columns - from);
            for (std::size_t m = 0; m < parts.size(); ++m) {
                sums[m] = parts[m].sums(part);
                std::fill(sums[m] + from, sums[m] + from + columns, T(0));
            }
            const auto packed = pack_panels(x, begin, begin + rows);
            add_panels(a.data + begin * a.leading + from, a.leading, rows, columns, packed.get(),
                       sums, from);
        }
    });
    for (const auto& p : parts) p.add();
}

template bool is_worth_one_pass(const DenseRows<float>&, std::int64_t);
template bool is_worth_one_pass(const DenseRows<double>&, std::int64_t);
template void few_rows_times_matrix(const DenseRows<float>&, const FewRows<float>&, float*);
template void few_rows_times_matrix(const DenseRows<double>&, const FewRows<double>&, double*);

}  // namespace unisono::library
