// Floor division and remainders of integers by vectors, which divide floating-point numbers only.
//
// floor(a / b) = floor((a + 1/2) / b) for b > 0, and (a + 1/2) / b is at least 1 / (2 b) from the
// next integer: further than the quotient of two numbers with more bits than a and b is wrong. So
// it is exact, also by the reciprocal of b. For b < 0 both change their sign. Included by
// loops_body.h alone: built for each instruction set, as the loops are.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "ops/ops.h"

namespace unisono::block {

namespace {

/// What divides integers of that size.
template <class T>
using DivisionReal = std::conditional_t<sizeof(T) <= 2, float, double>;

// Integers below 2**51 in size to double and back (rounded) by additions, which vectors have.
constexpr std::int64_t integer_bias = 0x4338000000000000;
inline double double_of(std::int64_t v) {
    return std::bit_cast<double>(v + integer_bias) - 0x1.8p52;
}
inline std::int64_t integer_of(double v) {
    return std::bit_cast<std::int64_t>(v + 0x1.8p52) - integer_bias;
}

template <class T>
DivisionReal<T> real_of(T v) {
    if constexpr (sizeof(T) == 8 || std::is_same_v<T, std::uint32_t>)
        return double_of(static_cast<std::int64_t>(v));
    else
        return static_cast<DivisionReal<T>>(static_cast<std::int32_t>(v));
}

/// The largest integer that is not above v.
template <class T>
T floor_of(DivisionReal<T> v) {
    if constexpr (sizeof(T) == 8 || std::is_same_v<T, std::uint32_t>) {
        const std::int64_t near = integer_of(v);
        return static_cast<T>(near - (double_of(near) > v ? 1 : 0));
    } else {
        const auto near = static_cast<std::int32_t>(v);
        return static_cast<T>(near - (static_cast<DivisionReal<T>>(near) > v ? 1 : 0));
    }
}

/// Whether b is neither 0 nor -1, by which quotients are 0 and -a (which wraps).
template <class T>
bool is_regular(T b) {
    if constexpr (std::is_signed_v<T>)
        return (b != 0) & (b != -1);
    else
        return b != 0;
}

template <Op O, class T>
T from_quotient(T a, T b, T a1, T b1, T quotient) {
    using U = std::conditional_t<sizeof(T) < 4, unsigned, std::make_unsigned_t<T>>;
    if constexpr (O == Op::Mod) {
        return static_cast<T>(U(a1) - U(quotient) * U(b1));
    } else if constexpr (std::is_signed_v<T>) {
        return static_cast<T>(U(quotient) - (U(a) & (U(0) - U(b == -1))));  // a1 was 0
    } else {
        return quotient;
    }
}

/// r = x // y or x % y. Integers of 64 bits are below 2**50 in size.
template <Op O, class T, bool OneA, bool OneB>
void divide_integers(const T* x, const T* y, T* r, std::int64_t count) {
    using R = DivisionReal<T>;
    const T x0 = *x, y0 = *y;
    if constexpr (OneB) {
        const bool regular = is_regular(y0);
        const T b1 = regular ? y0 : T(1);
        const R fb = real_of(b1), sign = fb < 0 ? R(-1) : R(1), inverse = 1 / (sign * fb);
        UNISONO_INDEPENDENT
        for (std::int64_t i = 0; i < count; ++i) {
            const T a = OneA ? x0 : x[i], a1 = regular ? a : T(0);
            const T q = floor_of<T>((sign * real_of(a1) + R(0.5)) * inverse);
            r[i] = from_quotient<O>(a, y0, a1, b1, q);
        }
    } else {
        UNISONO_INDEPENDENT
        for (std::int64_t i = 0; i < count; ++i) {
            const T a = OneA ? x0 : x[i], b = y[i];
            const bool regular = is_regular(b);
            const T a1 = regular ? a : T(0), b1 = regular ? b : T(1);
            const R fa = real_of(a1), fb = real_of(b1);
            const T q = floor_of<T>(((fb < 0 ? -fa : fa) + R(0.5)) / (fb < 0 ? -fb : fb));
            r[i] = from_quotient<O>(a, b, a1, b1, q);
        }
    }
}

/// Whether all are below 2**50 in size.
template <class T>
bool are_small(const T* x, std::int64_t count) {
    if constexpr (sizeof(T) < 8) return true;
    constexpr std::uint64_t offset = std::is_signed_v<T> ? std::uint64_t{1} << 50 : 0;
    std::uint64_t all = 0;
    for (std::int64_t i = 0; i < count; ++i) all |= static_cast<std::uint64_t>(x[i]) + offset;
    return all < std::uint64_t{1} << (std::is_signed_v<T> ? 51 : 50);
}

}  // namespace

}  // namespace unisono::block
