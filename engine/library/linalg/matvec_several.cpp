// Several products of one matrix with a vector: what they read of it stays in the caches, or in
// registers, for all of them. Each element is computed as in matvec.cpp.
#include <vector>

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "library/linalg/matvec.h"
#include "library/linalg/matvec_pieces.h"

namespace unisono::library {

using namespace matvec;

namespace {

template <class T>
std::int64_t end_of(const PartProduct<T>& p) {
    return p.first + p.count;
}

/// What the parts cover together.
template <class T>
PartProduct<T> hull(std::span<const PartProduct<T>> products) {
    PartProduct<T> all = products.front();
    std::int64_t end = end_of(all);
    for (const auto& p : products) {
        all.first = std::min(all.first, p.first);
        end = std::max(end, end_of(p));
    }
    all.count = end - all.first;
    return all;
}

constexpr int together = 4;  // vectors whose sums stay in registers at a time
template <class T>
constexpr std::int64_t tile = 2 * width<T>;  // columns of these sums
template <class T>
constexpr std::int64_t block = 2 * tile<T>;  // columns that are packed at a time

/// The sums of one tile, vector by vector.
template <class T>
struct TileSums {
    Vector<T> low[together], high[together];
};

/// x b, of `rows` rows of `together` and of `block` elements.
template <class T>
TileSums<T> sum_tile(const T* x, const T* b, std::int64_t rows) {
    constexpr std::int64_t w = width<T>;
    TileSums<T> sums;
    for (int q = 0; q < together; ++q) sums.low[q] = sums.high[q] = Vector<T>{};
    for (std::int64_t k = 0; k < rows; ++k) {
        const Vector<T> b0 = load(b + k * block<T>), b1 = load(b + k * block<T> + w);
#pragma GCC unroll 8
        for (int q = 0; q < together; ++q) {
            const Vector<T> factor = x[k * together + q] - Vector<T>{};  // keeps -0
            sums.low[q] += b0 * factor;
            sums.high[q] += b1 * factor;
        }
    }
    return sums;
}

/// The vectors in groups of `together`, in each group element by element; missing ones are 0.
template <class T>
std::unique_ptr<T[]> packed_vectors(std::span<const PartProduct<T>> products, std::int64_t rows) {
    const std::size_t groups = (products.size() + together - 1) / together;
    auto packed =
        std::make_unique_for_overwrite<T[]>(groups * static_cast<std::size_t>(rows) * together);
    parallel_for(0, rows, 256, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t k = first; k < last; ++k) {
            for (std::size_t q = 0; q < groups * together; ++q) {
                T* to = packed.get() + static_cast<std::int64_t>(q) / together * rows * together;
                const bool is_there = q < products.size();
                to[k * together + static_cast<std::int64_t>(q % together)] =
                    is_there ? products[q].x[k * products[q].x_stride] : T(0);
            }
        }
    });
    return packed;
}

/// Columns [from, from + block) of the matrix, those that it does not have as 0.
template <class T>
void pack_block(const T* from, std::int64_t leading, std::int64_t rows, std::int64_t count, T* to) {
    if (count >= block<T>) {
        for (std::int64_t k = 0; k < rows; ++k, from += leading, to += block<T>)
            std::memcpy(to, from, sizeof(T) * block<T>);
        return;
    }
    for (std::int64_t k = 0; k < rows; ++k, from += leading, to += block<T>) {
        for (std::int64_t j = 0; j < block<T>; ++j) to[j] = j < count ? from[j] : T(0);
    }
}

/// A range of columns of x A for all vectors.
template <class T>
class ColumnRange {
  public:
    ColumnRange(const DenseRows<T>& a, std::span<const PartProduct<T>> products, const T* vectors)
        : a_(a), products_(products), vectors_(vectors), cut_(a.rows) {
        packed_ =
            std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(cut_.rows * block<T>));
    }

    /// The elements of the vectors that belong to a part stay in the caches for all its columns.
    void run(std::int64_t begin, std::int64_t end) const {
        for (std::int64_t part = 0; part < cut_.count; ++part) {
            for (std::int64_t from = begin; from < end; from += block<T>)
                run_block(part, from, end);
        }
    }

  private:
    void run_block(std::int64_t part, std::int64_t from, std::int64_t end) const {
        const std::int64_t row = part * cut_.rows, rows = std::min(cut_.rows, a_.rows - row);
        const std::int64_t last = std::min(end, from + block<T>);
        pack_block(a_.data + row * a_.leading + from, a_.leading, rows, end - from, packed_.get());
        // Meanwhile the next block comes: its rows lie too far apart for the processor to foresee.
        const T* next = a_.data + row * a_.leading + last;
        const std::int64_t groups =
            (static_cast<std::int64_t>(products_.size()) + together - 1) / together;
        const std::int64_t share = last < end ? (rows + groups - 1) / groups : 0;
        std::int64_t fetched = 0;
        for (std::size_t first = 0; first < products_.size(); first += together) {
            for (const std::int64_t to = std::min(rows, fetched + share); fetched < to; ++fetched) {
                for (std::int64_t j = 0; j < block<T>; j += 64 / std::int64_t{sizeof(T)})
                    __builtin_prefetch(next + fetched * a_.leading + j);
            }
            const auto group =
                products_.subspan(first, std::min<std::size_t>(together, products_.size() - first));
            const T* x = vectors_ + static_cast<std::int64_t>(first) * a_.rows + row * together;
            for (std::int64_t j = from; j < last; j += tile<T>)
                run_tile(group, x, packed_.get() + (j - from), rows, j, part == 0);
        }
    }

    void run_tile(std::span<const PartProduct<T>> group, const T* x, const T* b, std::int64_t rows,
                  std::int64_t column, bool is_first) const {
        const auto has_some = [&](const PartProduct<T>& p) {
            return p.first < column + tile<T> && end_of(p) > column;
        };
        if (std::none_of(group.begin(), group.end(), has_some)) return;
        const TileSums<T> sums = sum_tile(x, b, rows);
        for (std::size_t q = 0; q < group.size(); ++q) {
            const auto& p = group[q];
            T* out = p.out + (column - p.first);
            if (p.first <= column && end_of(p) >= column + tile<T>) {
                put(sums.low[q], out, is_first);
                put(sums.high[q], out + width<T>, is_first);
                continue;
            }
            T sum[tile<T>];
            std::memcpy(sum, &sums.low[q], sizeof sums.low[q]);
            std::memcpy(sum + width<T>, &sums.high[q], sizeof sums.high[q]);
            const std::int64_t end = std::min(tile<T>, end_of(p) - column);
            for (std::int64_t j = std::max<std::int64_t>(0, p.first - column); j < end; ++j)
                out[j] = is_first ? sum[j] : out[j] + sum[j];
        }
    }

    static void put(Vector<T> sum, T* out, bool is_first) {
        if (!is_first) sum = load(out) + sum;
        std::memcpy(out, &sum, sizeof sum);
    }

    const DenseRows<T>& a_;
    std::span<const PartProduct<T>> products_;
    const T* vectors_;
    RowCut cut_;
    std::unique_ptr<T[]> packed_;
};

}  // namespace

namespace {

/// Few vectors: as each alone, but with a few rows at a time that the caches keep for all.
template <class T>
void few_times_matrix(const DenseRows<T>& a, std::span<const PartProduct<T>> products) {
    std::vector<Packed<T>> vectors;
    std::vector<RowParts<T>> parts;
    vectors.reserve(products.size());
    parts.reserve(products.size());
    for (const auto& p : products) {
        vectors.emplace_back(p.x, p.x_stride, a.rows);
        parts.emplace_back(DenseRows<T>{a.data, a.rows, p.count, a.leading}, p.out);
    }
    const auto all = hull(products);
    const ColumnTiles cut(all.count);
    const RowCut down(a.rows);
    const std::int64_t work = down.rows * cut.wide * static_cast<std::int64_t>(products.size());
    const std::int64_t grain = std::max<std::int64_t>(1, limits::thread_operations / work);
    const std::int64_t step = std::max<std::int64_t>(1, 1024 / cut.wide) * 8;  // rows
    const auto run_tile = [&](std::int64_t part, std::int64_t tile_begin) {
        const std::int64_t begin = part * down.rows, end = std::min(a.rows, begin + down.rows);
        for (std::int64_t i = begin; i < end; i += step) {
            const std::int64_t rows = std::min(step, end - i);
            for (std::size_t q = 0; q < products.size(); ++q) {
                const auto& p = products[q];
                const std::int64_t from = std::max(tile_begin, p.first);
                const std::int64_t to = std::min(tile_begin + cut.wide, end_of(p));
                if (from >= to) continue;
                T* sums = parts[q].sums(part) + (from - p.first);
                if (i == begin) std::fill(sums, sums + (to - from), T(0));
                add_some_rows(a.data + i * a.leading + from, a.leading, rows, to - from,
                              vectors[q].data() + i, sums);
            }
        }
    };
    parallel_for(0, down.count * cut.count, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t k = first; k < last; ++k)
            run_tile(k / cut.count, all.first + k % cut.count * cut.wide);
    });
    for (const auto& p : parts) p.add();
}

}  // namespace

template <class T>
void vectors_times_matrix(const DenseRows<T>& a, std::span<const PartProduct<T>> products) {
    constexpr std::size_t few = 6;
    const auto all = hull(products);
    if (products.size() <= few || all.count < 2 * block<T>) return few_times_matrix(a, products);
    const auto vectors = packed_vectors(products, a.rows);
    // Few ranges, so that each reads long pieces of rows.
    constexpr std::int64_t most_ranges = 8;
    const std::int64_t work = a.rows * static_cast<std::int64_t>(products.size());
    const std::int64_t least = std::max(limits::thread_operations / work, all.count / most_ranges);
    const std::int64_t wide = (least / block<T> + 1) * block<T>;
    parallel_for(0, (all.count + wide - 1) / wide, 1, [&](std::int64_t first, std::int64_t last) {
        const ColumnRange<T> columns(a, products, vectors.get());
        for (std::int64_t k = first; k < last; ++k) {
            const std::int64_t from = all.first + k * wide;
            columns.run(from, std::min(from + wide, end_of(all)));
        }
    });
}

template <class T>
void matrix_times_vectors(const DenseRows<T>& a, std::span<const PartProduct<T>> products) {
    constexpr std::int64_t group = 16;  // rows that the caches keep for all vectors
    std::vector<Packed<T>> vectors;
    vectors.reserve(products.size());
    for (const auto& p : products) vectors.emplace_back(p.x, p.x_stride, a.columns);
    const auto all = hull(products);
    const std::int64_t groups = (all.count + group - 1) / group;
    const std::int64_t work = group * a.columns * static_cast<std::int64_t>(products.size());
    const std::int64_t grain = std::max<std::int64_t>(1, limits::thread_operations / work);
    parallel_for(0, groups, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t row = all.first + first * group;
             row < std::min(end_of(all), all.first + last * group); row += 4) {
            for (std::size_t q = 0; q < products.size(); ++q) {
                const auto& p = products[q];
                std::int64_t i = std::max(row, p.first);
                const std::int64_t end = std::min({row + 4, end_of(p)});
                const T* rows = a.data + i * a.leading;
                if (end - i == 4) {
                    dots<T, 4>(rows, a.leading, a.columns, vectors[q].data(), p.out + i - p.first);
                    continue;
                }
                for (; i < end; ++i, rows += a.leading)
                    dots<T, 1>(rows, a.leading, a.columns, vectors[q].data(), p.out + i - p.first);
            }
        }
    });
}

template void vectors_times_matrix(const DenseRows<float>&, std::span<const PartProduct<float>>);
template void vectors_times_matrix(const DenseRows<double>&, std::span<const PartProduct<double>>);
template void matrix_times_vectors(const DenseRows<float>&, std::span<const PartProduct<float>>);
template void matrix_times_vectors(const DenseRows<double>&, std::span<const PartProduct<double>>);

}  // namespace unisono::library
