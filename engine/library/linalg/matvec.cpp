// How work is cut follows from the shapes alone, so the bits are the same for any number of
// threads; matvec_pieces.h says which they are. Whole rows are what memory delivers fastest.
#include "library/linalg/matvec.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "library/linalg/matvec_pieces.h"

namespace unisono::library {

using namespace matvec;

namespace {

constexpr std::int64_t few_columns = wide_from - 1;  ///< up to here what is left of a row counts

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

namespace {

template <class T, int columns>
void narrow_times_vector(const DenseRows<T>& a, const T* x, T* out) {
    constexpr std::int64_t w = width<T>, group = limits::thread_operations / columns / w * w;
    parallel_for(0, (a.rows + group - 1) / group, 1, [&](std::int64_t first, std::int64_t last) {
        std::int64_t i = first * group, end = std::min(a.rows, last * group);
        for (; i + w <= end; i += w) {
            const Vector<T> sums = narrow_dots<T, columns>(a.data + i * a.leading, a.leading, x);
            std::memcpy(out + i, &sums, sizeof sums);
        }
        for (; i < end; ++i) dots<T, 1>(a.data + i * a.leading, a.leading, columns, x, out + i);
    });
}

/// By the loops for exactly so many columns; false where there are more of them.
template <class T, int columns = 1>
bool multiply_narrow(const DenseRows<T>& a, const T* x, T* out) {
    if constexpr (columns <= 4) {
        if (a.columns != columns) return multiply_narrow<T, columns + 1>(a, x, out);
        narrow_times_vector<T, columns>(a, x, out);
        return true;
    }
    return false;
}

}  // namespace

template <class T>
void matrix_times_vector(const DenseRows<T>& a, const T* x, std::int64_t x_stride, T* out) {
    Packed<T> packed(x, x_stride, a.columns);
    if (multiply_narrow(a, packed.data(), out)) return;
    std::int64_t group = std::max<std::int64_t>(1, limits::thread_operations / (4 * a.columns)) * 4;
    const RestOfRow<T> rest(packed.data(), a.columns);
    const bool few = a.columns <= few_columns;
    const std::int64_t all = (a.rows - 1) * a.leading + a.columns;  // elements that may be read
    parallel_for(0, (a.rows + group - 1) / group, 1, [&](std::int64_t first, std::int64_t last) {
        std::int64_t i = first * group, end = std::min(a.rows, last * group);
        for (; few && i + 4 <= end && (i + 3) * a.leading + rest.reaches <= all; i += 4)
            short_dots(a.data + i * a.leading, a.leading, packed.data(), rest, out + i);
        for (; i + 4 <= end; i += 4)
            dots<T, 4>(a.data + i * a.leading, a.leading, a.columns, packed.data(), out + i);
        for (; i < end; ++i)
            dots<T, 1>(a.data + i * a.leading, a.leading, a.columns, packed.data(), out + i);
    });
}

template <class T>
void scaled_matrix_times_vector(const DenseRows<T>& a, T factor, const T* x, std::int64_t x_stride,
                                T* out) {
    const Packed<T> packed(x, x_stride, a.columns);
    const Scaled<T> read{factor};
    const std::int64_t group =
        std::max<std::int64_t>(1, limits::thread_operations / (4 * a.columns)) * 4;
    parallel_for(0, (a.rows + group - 1) / group, 1, [&](std::int64_t first, std::int64_t last) {
        std::int64_t i = first * group, end = std::min(a.rows, last * group);
        for (; i + 4 <= end; i += 4)
            dots<T, 4>(a.data + i * a.leading, a.leading, a.columns, packed.data(), out + i, read);
        for (; i < end; ++i)
            dots<T, 1>(a.data + i * a.leading, a.leading, a.columns, packed.data(), out + i, read);
    });
}

template <class T>
void vector_times_matrix(const DenseRows<T>& a, const T* x, std::int64_t x_stride, T* out) {
    Packed<T> packed(x, x_stride, a.rows);
    const ColumnTiles cut(a.columns);
    const RowParts<T> parts(a, out);
    const std::int64_t grain =
        std::max<std::int64_t>(1, limits::thread_operations / (parts.rows * cut.wide));
    parallel_for(0, parts.count * cut.count, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t q = first; q < last; ++q) {
            std::int64_t part = q / cut.count, i = part * parts.rows, j = q % cut.count * cut.wide;
            if (j >= a.columns) continue;
            sum_rows(a.data + i * a.leading + j, a.leading, parts.rows_of(part),
                     std::min(cut.wide, a.columns - j), packed.data() + i, parts.sums(part) + j);
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
                dots<T, 4, true>(rows, a.leading, a.columns, x.data(), p.forward + i);
                dots<T, 4, true>(rows + 4 * a.leading, a.leading, a.columns, x.data(),
                                 p.forward + i + 4);
                add_rows<T, 8, true>(rows, a.leading, a.columns, y.data() + i, sums);
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
template void scaled_matrix_times_vector(const DenseRows<float>&, float, const float*, std::int64_t,
                                         float*);
template void scaled_matrix_times_vector(const DenseRows<double>&, double, const double*,
                                         std::int64_t, double*);
template void vector_times_matrix(const DenseRows<float>&, const float*, std::int64_t, float*);
template void vector_times_matrix(const DenseRows<double>&, const double*, std::int64_t, double*);
template void multiply_both(const DenseRows<float>&, const BothProducts<float>&);
template void multiply_both(const DenseRows<double>&, const BothProducts<double>&);

}  // namespace unisono::library
