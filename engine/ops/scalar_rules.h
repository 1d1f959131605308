// Rules of scalar operations that need more than an operator, as templates that the evaluator of
// scalars, the block loops and what compiled code calls share.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace unisono::rules {

template <class T>
using Unsigned = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Wrapping integer power; a negative exponent, which callers refuse first, gives 0.
template <class T>
T integer_power(T base, T exponent) {
    if constexpr (std::is_signed_v<T>) {
        if (exponent < 0) return 0;
    }
    auto factor = static_cast<Unsigned<T>>(base);
    Unsigned<T> result = 1;
    for (auto n = static_cast<Unsigned<T>>(exponent); n != 0; n >>= 1) {
        if (n & 1) result *= factor;
        factor *= factor;
    }
    return static_cast<T>(result);
}

template <class T>
Unsigned<T> magnitude(T a) {
    auto u = static_cast<Unsigned<T>>(a);
    return a < 0 ? Unsigned<T>{0} - u : u;
}

/// As a number of T: the greatest common divisor of the minimum with itself or 0 wraps.
template <class T>
Unsigned<T> common_divisor(T a, T b) {
    Unsigned<T> x = magnitude(a), y = magnitude(b);
    while (y != 0) {
        Unsigned<T> rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}
template <class T>
T gcd(T a, T b) {
    return static_cast<T>(common_divisor(a, b));
}
template <class T>
T lcm(T a, T b) {
    Unsigned<T> divisor = common_divisor(a, b);
    return divisor == 0 ? T{0} : static_cast<T>(magnitude(a) / divisor * magnitude(b));
}

/// C's remainder: the sign of a; divisor 0 gives 0 for integers.
template <class T>
T integer_fmod(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
}

/// -1, 0, 1; NaN stays, zero loses its sign.
template <class T>
T sign(T a) {
    T s = static_cast<T>((a > 0 ? 1 : 0) - (a < 0 ? 1 : 0));
    if constexpr (std::is_floating_point_v<T>) return a != a ? a : s;
    return s;
}

/// The one that is a number where the other is not; of equal ones the first.
template <class T>
T fmin(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return ((a <= b) | (b != b)) ? a : b;
    return a <= b ? a : b;
}
template <class T>
T fmax(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return ((a >= b) | (b != b)) ? a : b;
    return a >= b ? a : b;
}

template <class T>
bool is_nan(T a) {
    return a != a;
}
template <class T>
bool is_inf(T a) {
    return std::fabs(a) == std::numeric_limits<T>::infinity();
}
template <class T>
bool is_finite(T a) {
    return std::fabs(a) < std::numeric_limits<T>::infinity();
}

/// x * 2^n, rounded once; n holds a whole number.
template <class T>
T ldexp(T x, T n) {
    constexpr T limit = 5000;  // beyond the exponents of every format
    if (!(n > -limit)) n = -limit;
    return std::ldexp(x, static_cast<int>(n < limit ? n : limit));
}

/// That of frexp, a whole number; 0 of zero, infinity and NaN. Its bits are put behind those of a
/// number whose last digit is 1, which vectors convert by a difference.
template <class T>
T exponent(T a) {
    using Limits = std::numeric_limits<T>;
    using Bits = Unsigned<T>;
    constexpr int places = Limits::digits - 1;
    constexpr T unit = static_cast<T>(Bits{1} << places), bias = T(1) - T(Limits::min_exponent);
    const T size = std::fabs(a);
    const bool is_small = size < Limits::min();
    const Bits bits = std::bit_cast<Bits>(is_small ? size * (2 * unit) : size) >> places;
    const T e = std::bit_cast<T>(bits | std::bit_cast<Bits>(unit)) - (unit + bias);
    return (size > 0) & (size < Limits::infinity()) ? e - (is_small ? T(Limits::digits) : T(0))
                                                    : T(0);
}

template <class T>
int bit_count(T a) {
    return __builtin_popcountll(static_cast<std::uint64_t>(magnitude(a)));
}

}  // namespace unisono::rules
