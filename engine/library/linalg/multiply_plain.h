// Loops for products of matrices whose dtype BLAS does not know, or which are tiny.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "ops/complex_rules.h"

namespace unisono::library {

/// In what a product of elements of type T is summed: integers wrap, so their sums are unsigned.
template <class T>
struct SumOf {
    using type = T;
};
template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) struct SumOf<T> {
    using type = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
};
template <>
struct SumOf<bool> {
    using type = std::uint8_t;
};
template <class T>
requires(!std::is_arithmetic_v<T> && sizeof(T) == 2) struct SumOf<T> {
    using type = float;  // float16: rounded once, at the end
};
template <class T>
using sum_of = typename SumOf<T>::type;

template <class T>
T add_plain(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) return a || b;
    return static_cast<T>(static_cast<sum_of<T>>(a) + static_cast<sum_of<T>>(b));
}

/// Each operation rounded; of complex numbers the plain formula, as everywhere in the engine.
template <class T>
T times(T a, T b) {
    if constexpr (requires { a.real(); }) {
        return rules::product(a, b);
    } else {
        return a * b;
    }
}

/// multiply_plain of so few columns that their sums stay in registers; the same bits.
template <std::int64_t columns, class T>
void multiply_narrow(std::int64_t m, std::int64_t k, const T* a, std::int64_t a_row,
                     std::int64_t a_column, const T* b, std::int64_t b_row, std::int64_t b_column,
                     T* out, std::int64_t out_row) {
    using Sum = sum_of<T>;
    for (std::int64_t i = 0; i < m; ++i) {
        Sum sums[columns] = {};
        for (std::int64_t p = 0; p < k; ++p) {
            const Sum x = static_cast<Sum>(a[i * a_row + p * a_column]);
            for (std::int64_t q = 0; q < columns; ++q)
                sums[q] += times(x, static_cast<Sum>(b[p * b_row + q * b_column]));
        }
        for (std::int64_t q = 0; q < columns; ++q) out[i * out_row + q] = static_cast<T>(sums[q]);
    }
}

/// out[m, n] = a[m, k] b[k, n]: a block of rows and columns stays in registers and the first cache
/// while the summed axis runs in order.
template <class T>
void multiply_plain(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t a_row,
                    std::int64_t a_column, const T* b, std::int64_t b_row, std::int64_t b_column,
                    T* out, std::int64_t out_row) {
    if constexpr (!std::is_same_v<T, bool>) {
        switch (n) {
            case 1:
                return multiply_narrow<1>(m, k, a, a_row, a_column, b, b_row, b_column, out,
                                          out_row);
            case 2:
                return multiply_narrow<2>(m, k, a, a_row, a_column, b, b_row, b_column, out,
                                          out_row);
            case 3:
                return multiply_narrow<3>(m, k, a, a_row, a_column, b, b_row, b_column, out,
                                          out_row);
            case 4:
                return multiply_narrow<4>(m, k, a, a_row, a_column, b, b_row, b_column, out,
                                          out_row);
            default: break;
        }
    }
    using Sum = sum_of<T>;
    constexpr std::int64_t columns = 64;
    Sum sums[columns];
    for (std::int64_t j = 0; j < n; j += columns) {
        std::int64_t width = std::min(columns, n - j);
        for (std::int64_t i = 0; i < m; ++i) {
            std::fill(sums, sums + width, Sum(0));
            for (std::int64_t p = 0; p < k; ++p) {
                const Sum x = static_cast<Sum>(a[i * a_row + p * a_column]);
                const T* y = b + p * b_row + j * b_column;
                if constexpr (std::is_same_v<T, bool>) {
                    if (!x) continue;
                    for (std::int64_t q = 0; q < width; ++q)
                        sums[q] |= static_cast<Sum>(y[q * b_column]);
                } else if (b_column == 1) {
                    for (std::int64_t q = 0; q < width; ++q)
                        sums[q] += times(x, static_cast<Sum>(y[q]));
                } else {
                    for (std::int64_t q = 0; q < width; ++q)
                        sums[q] += times(x, static_cast<Sum>(y[q * b_column]));
                }
            }
            T* row = out + i * out_row + j;
            for (std::int64_t q = 0; q < width; ++q) row[q] = static_cast<T>(sums[q]);
        }
    }
}

}  // namespace unisono::library
