// What products of a matrix with one vector and with several share: their bits are the same.
//
// A x: each element is the sum of 16 (float32) or 8 (float64) lanes, which are added in pairs at
// the end. x A: a column of rows is cut in up to 16 parts, by the number of rows alone; each part
// is summed row by row, and the parts are added in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "core/vectors.h"
#include "library/linalg/matvec.h"

namespace unisono::library::matvec {

/// How the rows of x A are cut.
struct RowCut {
    explicit RowCut(std::int64_t all) {
        constexpr std::int64_t most_parts = 16, fewest_rows = 128;
        const std::int64_t wanted = std::clamp<std::int64_t>(all / fewest_rows, 1, most_parts);
        rows = ((all + wanted - 1) / wanted + 7) / 8 * 8;
        count = std::max<std::int64_t>(1, (all + rows - 1) / rows);
    }
    std::int64_t count, rows;  ///< parts, and rows of a part but the last
};

template <class T>
using Vector = typename VectorOf<T, 32>::type;
template <class T>
constexpr std::int64_t width = 32 / sizeof(T);

template <class T>
Vector<T> load(const T* from) {
    Vector<T> v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

/// A vector of stride 1: itself, or a copy.
template <class T>
class Packed {
  public:
    Packed(const T* x, std::int64_t stride, std::int64_t count) : data_(x) {
        if (stride == 1) return;
        copy_ = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(count));
        for (std::int64_t k = 0; k < count; ++k) copy_[static_cast<std::size_t>(k)] = x[k * stride];
        data_ = copy_.get();
    }
    const T* data() const { return data_; }

  private:
    const T* data_;
    std::unique_ptr<T[]> copy_;
};

template <class T>
using Lanes = Vector<std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>>;

/// The columns that are left after the last whole lanes: where memory behind a row may be read,
/// they are multiplied as vectors.
template <class T>
struct RestOfRow {
    RestOfRow(const T* x, std::int64_t columns) {
        constexpr std::int64_t w = width<T>;
        begin = columns / (2 * w) * (2 * w);
        const std::int64_t count = columns - begin;
        T rest[2 * w] = {};
        std::copy_n(x + begin, count, rest);
        x0 = load(rest);
        x1 = load(rest + w);
        for (std::int64_t l = 0; l < w; ++l) {
            keep0[l] = l < count ? -1 : 0;
            keep1[l] = w + l < count ? -1 : 0;
        }
        reaches_high = count > w;
        reaches = begin + (reaches_high ? 2 * w : w);
    }
    static Vector<T> masked(const T* from, Lanes<T> keep) {
        return reinterpret_cast<Vector<T>>(reinterpret_cast<Lanes<T>>(load(from)) & keep);
    }
    std::int64_t begin, reaches;  ///< columns; reaches: up to where rows are read
    bool reaches_high;            ///< whether something is left for the second vector of lanes
    Vector<T> x0, x1;
    Lanes<T> keep0, keep1;
};

/// The lanes of four rows, added by halves as in `dots`.
inline void add_halves(const Vector<double>* v, double* out) {
    auto pair = [](Vector<double> a, Vector<double> b) {
        return __builtin_shufflevector(a, b, 0, 1, 4, 5) +
               __builtin_shufflevector(a, b, 2, 3, 6, 7);
    };
    Vector<double> x = pair(v[0], v[2]), y = pair(v[1], v[3]);
    x = __builtin_shufflevector(x, y, 0, 4, 2, 6) + __builtin_shufflevector(x, y, 1, 5, 3, 7);
    std::memcpy(out, &x, sizeof x);
}
inline void add_halves(const Vector<float>* v, float* out) {
    auto pair = [](Vector<float> a, Vector<float> b) {
        return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
               __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    };
    Vector<float> x = pair(v[0], v[2]), y = pair(v[1], v[3]);
    x = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13) +
        __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
    for (int r = 0; r < 4; ++r) out[r] = x[2 * r] + x[2 * r + 1];
}

/// The dot products of four rows of few columns with x; the bits of `dots`.
template <class T>
void short_dots(const T* a, std::int64_t leading, const T* x, const RestOfRow<T>& rest, T* out) {
    constexpr std::int64_t w = width<T>;
    constexpr int rows = 4;
    Vector<T> low[rows], high[rows];
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) low[r] = high[r] = Vector<T>{};
    for (std::int64_t j = 0; j < rest.begin; j += 2 * w) {
        Vector<T> x0 = load(x + j), x1 = load(x + j + w);
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) {
            low[r] += load(a + r * leading + j) * x0;
            high[r] += load(a + r * leading + j + w) * x1;
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
        // No lane is -0: what is added where nothing is left changes none.
        const T* row = a + r * leading + rest.begin;
        low[r] += rest.masked(row, rest.keep0) * rest.x0;
        if (rest.reaches_high) high[r] += rest.masked(row + w, rest.keep1) * rest.x1;
        low[r] += high[r];
    }
    add_halves(low, out);
}

/// The dot products of `w` rows of few columns with x: the same sums, a lane for each row.
template <class T, int columns>
Vector<T> narrow_dots(const T* a, std::int64_t leading, const T* x) {
    constexpr std::int64_t w = width<T>;
    Vector<T> lanes[w] = {};
    for (int k = 0; k < columns; ++k) {
        Vector<T> column;
        for (std::int64_t r = 0; r < w; ++r) column[r] = a[r * leading + k];
        lanes[k] += column * x[k];
    }
    for (std::int64_t half = w / 2; half > 0; half /= 2) {
        for (std::int64_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
    }
    return lanes[0];
}

/// Elements of a matrix as they lie, and each times a factor.
struct AsTheyLie {
    template <class V>
    V operator()(V v) const {
        return v;
    }
};
template <class T>
struct Scaled {
    T factor;
    template <class V>
    V operator()(V v) const {
        return v * factor;
    }
};

/// Asks for the element at `j` of each of the `rows` rows behind these; a hint that never faults.
/// They lie too far apart for the processor to foresee where a thread reads rows in two ways.
template <class T, int rows>
void prefetch_next_rows(const T* a, std::int64_t leading, std::int64_t j) {
    for (int r = 0; r < rows; ++r) __builtin_prefetch(a + (r + rows) * leading + j, 0, 2);
}

/// The dot products of `rows` rows with x; `ahead`: prefetches the rows that follow.
template <class T, int rows, bool ahead = false, class Read = AsTheyLie>
void dots(const T* a, std::int64_t leading, std::int64_t columns, const T* x, T* out,
          Read read = {}) {
    constexpr std::int64_t w = width<T>;
    Vector<T> low[rows], high[rows];
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) low[r] = high[r] = Vector<T>{};
    std::int64_t j = 0;
    for (; j + 2 * w <= columns; j += 2 * w) {
        Vector<T> x0 = load(x + j), x1 = load(x + j + w);
        if constexpr (ahead) prefetch_next_rows<T, rows>(a, leading, j);
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) {
            low[r] += read(load(a + r * leading + j)) * x0;
            high[r] += read(load(a + r * leading + j + w)) * x1;
        }
    }
    for (int r = 0; r < rows; ++r) {
        T lanes[2 * w];
        std::memcpy(lanes, &low[r], sizeof low[r]);
        std::memcpy(lanes + w, &high[r], sizeof high[r]);
        for (std::int64_t k = j; k < columns; ++k) lanes[k - j] += read(a[r * leading + k]) * x[k];
        for (std::int64_t half = w; half > 0; half /= 2) {
            for (std::int64_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
        }
        out[r] = lanes[0];
    }
}

/// out += x of `rows` rows times these rows; `ahead` as above.
template <class T, int rows, bool ahead = false>
void add_rows(const T* a, std::int64_t leading, std::int64_t columns, const T* x, T* out) {
    constexpr std::int64_t w = width<T>;
    constexpr int wide = 4;  // vectors whose sums are made together: their chains of adds overlap
    Vector<T> factor[rows];
    for (int r = 0; r < rows; ++r) factor[r] = x[r] - Vector<T>{};  // keeps -0
    std::int64_t j = 0;
    for (; j + wide * w <= columns; j += wide * w) {
        if constexpr (ahead) {
            for (int c = 0; c < wide; c += 2) prefetch_next_rows<T, rows>(a, leading, j + c * w);
        }
        Vector<T> sum[wide];
        for (int c = 0; c < wide; ++c) sum[c] = load(out + j + c * w);
        for (int r = 0; r < rows; ++r) {
            const T* row = a + r * leading + j;
            for (int c = 0; c < wide; ++c) sum[c] += load(row + c * w) * factor[r];
        }
        std::memcpy(out + j, sum, sizeof sum);
    }
    for (; j + w <= columns; j += w) {
        Vector<T> sum = load(out + j);
        for (int r = 0; r < rows; ++r) sum += load(a + r * leading + j) * factor[r];
        std::memcpy(out + j, &sum, sizeof sum);
    }
    for (; j < columns; ++j) {
        T sum = out[j];
        for (int r = 0; r < rows; ++r) sum += a[r * leading + j] * x[r];
        out[j] = sum;
    }
}

template <class T>
void add_some_rows(const T* a, std::int64_t leading, std::int64_t rows, std::int64_t columns,
                   const T* x, T* out) {
    std::int64_t i = 0;
    for (; i + 8 <= rows; i += 8) add_rows<T, 8>(a + i * leading, leading, columns, x + i, out);
    for (; i < rows; ++i) add_rows<T, 1>(a + i * leading, leading, columns, x + i, out);
}

/// out = the same.
template <class T>
void sum_rows(const T* a, std::int64_t leading, std::int64_t rows, std::int64_t columns, const T* x,
              T* out) {
    std::memset(out, 0, static_cast<std::size_t>(columns) * sizeof(T));
    add_some_rows(a, leading, rows, columns, x, out);
}

/// Columns of x A whose sums stay in the first cache.
struct ColumnTiles {
    explicit ColumnTiles(std::int64_t columns) {
        constexpr std::int64_t widest = 4096;
        count = (columns + widest - 1) / widest;
        wide = ((columns + count - 1) / count + 63) / 64 * 64;
    }
    std::int64_t count, wide;
};

/// The rows of x A in parts, and the sums of each.
template <class T>
class RowParts {
  public:
    RowParts(const DenseRows<T>& a, T* out) : all_(a.rows), columns_(a.columns), out_(out) {
        const RowCut cut(a.rows);
        count = cut.count;
        rows = cut.rows;
        auto size = static_cast<std::size_t>((count - 1) * a.columns);
        if (count > 1) sums_ = std::make_unique_for_overwrite<T[]>(size);
    }
    std::int64_t rows_of(std::int64_t part) const { return std::min(rows, all_ - part * rows); }
    T* sums(std::int64_t part) const {
        return part == 0 ? out_ : sums_.get() + (part - 1) * columns_;
    }
    void add() const {
        if (count == 1) return;
        auto grain = limits::thread_operations / count;
        parallel_for(0, columns_, grain, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t p = 1; p < count; ++p) {
                const T* part = sums(p);
                for (std::int64_t j = first; j < last; ++j) out_[j] += part[j];
            }
        });
    }

    std::int64_t count, rows;  ///< parts, and rows of a part

  private:
    std::int64_t all_, columns_;  // of the matrix
    T* out_;
    std::unique_ptr<T[]> sums_;  // of all parts but the first
};

}  // namespace unisono::library::matvec
