// How work is cut follows from the shapes alone, so the bits are the same for any number of
// threads.
//
// A x: each element is the sum of 16 (float32) or 8 (float64) lanes, which are added in pairs at
// the end. x A: rows are taken eight at a time, and a long column of rows in up to 16 parts, whose
// sums are added in order: whole rows are what memory delivers fastest.
#include "library/matvec.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>

#include "core/parallel.h"

namespace unisono::library {

namespace {

constexpr std::int64_t worth_a_thread = 1 << 16;  // multiply-adds
constexpr std::int64_t most_parts = 16;
constexpr std::int64_t fewest_rows = 32;    // of a part
constexpr std::int64_t widest_tile = 4096;  // sums of a tile stay in the first cache

template <class T>
using Vector [[gnu::vector_size(32)]] = T;
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

/// The dot products of `rows` rows with x.
template <class T, int rows>
void dots(const T* a, std::int64_t leading, std::int64_t columns, const T* x, T* out) {
    constexpr std::int64_t w = width<T>;
    Vector<T> low[rows] = {}, high[rows] = {};
    std::int64_t j = 0;
    for (; j + 2 * w <= columns; j += 2 * w) {
        Vector<T> x0 = load(x + j), x1 = load(x + j + w);
        for (int r = 0; r < rows; ++r) {
            low[r] += load(a + r * leading + j) * x0;
            high[r] += load(a + r * leading + j + w) * x1;
        }
    }
    for (int r = 0; r < rows; ++r) {
        T lanes[2 * w];
        std::memcpy(lanes, &low[r], sizeof low[r]);
        std::memcpy(lanes + w, &high[r], sizeof high[r]);
        for (std::int64_t k = j; k < columns; ++k) lanes[k - j] += a[r * leading + k] * x[k];
        for (std::int64_t half = w; half > 0; half /= 2) {
            for (std::int64_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
        }
        out[r] = lanes[0];
    }
}

/// out += x of `rows` rows times these rows.
template <class T, int rows>
void add_rows(const T* a, std::int64_t leading, std::int64_t columns, const T* x, T* out) {
    constexpr std::int64_t w = width<T>;
    constexpr int wide = 4;  // vectors whose sums are made together: their chains of adds overlap
    Vector<T> factor[rows];
    for (int r = 0; r < rows; ++r) factor[r] = x[r] - Vector<T>{};  // keeps -0
    std::int64_t j = 0;
    for (; j + wide * w <= columns; j += wide * w) {
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
void sum_rows(const T* a, std::int64_t leading, std::int64_t rows, std::int64_t columns, const T* x,
              T* out) {
    std::memset(out, 0, static_cast<std::size_t>(columns) * sizeof(T));
    std::int64_t i = 0;
    for (; i + 8 <= rows; i += 8) add_rows<T, 8>(a + i * leading, leading, columns, x + i, out);
    for (; i < rows; ++i) add_rows<T, 1>(a + i * leading, leading, columns, x + i, out);
}

/// Lanes as in `dots`; strides that are known when this is compiled make vectors.
template <class T, class X, class Y>
T sum_of_products(std::int64_t count, const T* x, X x_stride, const T* y, Y y_stride) {
    constexpr std::int64_t lanes = 2 * width<T>;
    T sums[lanes] = {};
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        for (std::int64_t l = 0; l < lanes; ++l)
            sums[l] += x[(i + l) * x_stride] * y[(i + l) * y_stride];
    }
    for (std::int64_t l = 0; i < count; ++i, ++l) sums[l] += x[i * x_stride] * y[i * y_stride];
    for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
        for (std::int64_t k = 0; k < half; ++k) sums[k] += sums[k + half];
    }
    return sums[0];
}

}  // namespace

template <class T>
T dot_product(std::int64_t count, const T* x, std::int64_t x_stride, const T* y,
              std::int64_t y_stride) {
    using Forward = std::integral_constant<std::int64_t, 1>;
    using Backward = std::integral_constant<std::int64_t, -1>;
    if (x_stride == 1 && y_stride == 1) return sum_of_products(count, x, Forward(), y, Forward());
    if (x_stride == -1 && y_stride == 1) return sum_of_products(count, x, Backward(), y, Forward());
    if (x_stride == 1 && y_stride == -1) return sum_of_products(count, x, Forward(), y, Backward());
    return sum_of_products(count, x, x_stride, y, y_stride);
}

template <class T>
void matrix_times_vector(const DenseRows<T>& a, const T* x, std::int64_t x_stride, T* out) {
    Packed<T> packed(x, x_stride, a.columns);
    std::int64_t group = std::max<std::int64_t>(1, worth_a_thread / (4 * a.columns)) * 4;
    parallel_for(0, (a.rows + group - 1) / group, 1, [&](std::int64_t first, std::int64_t last) {
        std::int64_t i = first * group, end = std::min(a.rows, last * group);
        for (; i + 4 <= end; i += 4)
            dots<T, 4>(a.data + i * a.leading, a.leading, a.columns, packed.data(), out + i);
        for (; i < end; ++i)
            dots<T, 1>(a.data + i * a.leading, a.leading, a.columns, packed.data(), out + i);
    });
}

namespace {

/// The rows of x A in parts, and the sums of each.
template <class T>
class RowParts {
  public:
    RowParts(const DenseRows<T>& a, T* out) : a_(a), out_(out) {
        std::int64_t wanted = std::min(a.rows * a.columns / worth_a_thread, a.rows / fewest_rows);
        count = std::clamp<std::int64_t>(wanted, 1, most_parts);
        rows = ((a.rows + count - 1) / count + 7) / 8 * 8;
        count = std::max<std::int64_t>(1, (a.rows + rows - 1) / rows);
        auto size = static_cast<std::size_t>((count - 1) * a.columns);
        if (count > 1) sums_ = std::make_unique_for_overwrite<T[]>(size);
    }
    std::int64_t rows_of(std::int64_t part) const { return std::min(rows, a_.rows - part * rows); }
    T* sums(std::int64_t part) const {
        return part == 0 ? out_ : sums_.get() + (part - 1) * a_.columns;
    }
    void add() const {
        if (count == 1) return;
        auto grain = worth_a_thread / count;
        parallel_for(0, a_.columns, grain, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t p = 1; p < count; ++p) {
                const T* part = sums(p);
                for (std::int64_t j = first; j < last; ++j) out_[j] += part[j];
            }
        });
    }

    std::int64_t count, rows;  ///< parts, and rows of a part

  private:
    const DenseRows<T>& a_;
    T* out_;
    std::unique_ptr<T[]> sums_;  // of all parts but the first
};

}  // namespace

template <class T>
void vector_times_matrix(const DenseRows<T>& a, const T* x, std::int64_t x_stride, T* out) {
    Packed<T> packed(x, x_stride, a.rows);
    std::int64_t tiles = (a.columns + widest_tile - 1) / widest_tile;
    std::int64_t wide = ((a.columns + tiles - 1) / tiles + 63) / 64 * 64;
    const RowParts<T> parts(a, out);
    parallel_for(0, parts.count * tiles, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t q = first; q < last; ++q) {
            std::int64_t i = q / tiles * parts.rows, j = q % tiles * wide;
            if (j >= a.columns) continue;
            sum_rows(a.data + i * a.leading + j, a.leading, parts.rows_of(q / tiles),
                     std::min(wide, a.columns - j), packed.data() + i, parts.sums(q / tiles) + j);
        }
    });
    parts.add();
}

template <class T>
void multiply_both(const DenseRows<T>& a, const BothProducts<T>& p) {
    Packed<T> x(p.x, p.x_stride, a.columns), y(p.y, p.y_stride, a.rows);
    const RowParts<T> parts(a, p.backward);
    parallel_for(0, parts.count, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t part = first; part < last; ++part) {
            std::int64_t i = part * parts.rows, end = i + parts.rows_of(part);
            T* sums = parts.sums(part);
            std::memset(sums, 0, static_cast<std::size_t>(a.columns) * sizeof(T));
            // A few rows are still in the caches when they are read again.
            for (; i + 8 <= end; i += 8) {
                const T* rows = a.data + i * a.leading;
                dots<T, 4>(rows, a.leading, a.columns, x.data(), p.forward + i);
                dots<T, 4>(rows + 4 * a.leading, a.leading, a.columns, x.data(), p.forward + i + 4);
                add_rows<T, 8>(rows, a.leading, a.columns, y.data() + i, sums);
            }
            for (; i < end; ++i) {
                const T* row = a.data + i * a.leading;
                dots<T, 1>(row, a.leading, a.columns, x.data(), p.forward + i);
                add_rows<T, 1>(row, a.leading, a.columns, y.data() + i, sums);
            }
        }
    });
    parts.add();
}

template float dot_product(std::int64_t, const float*, std::int64_t, const float*, std::int64_t);
template double dot_product(std::int64_t, const double*, std::int64_t, const double*, std::int64_t);
template void matrix_times_vector(const DenseRows<float>&, const float*, std::int64_t, float*);
template void matrix_times_vector(const DenseRows<double>&, const double*, std::int64_t, double*);
template void vector_times_matrix(const DenseRows<float>&, const float*, std::int64_t, float*);
template void vector_times_matrix(const DenseRows<double>&, const double*, std::int64_t, double*);
template void multiply_both(const DenseRows<float>&, const BothProducts<float>&);
template void multiply_both(const DenseRows<double>&, const BothProducts<double>&);

}  // namespace unisono::library
