// The vocabulary in which mathematical functions are written, for C++ numbers; the pass expand_math
// gives the same words for expressions of the kernel IR.
//
// How it works. Each function is one template over a number type R: float64 values here, IR
// expressions in passes/lowering/expand_math.cpp. So that both give the same bits, a template uses
// only what this file names: arithmetic that rounds once, fma, comparisons, selections, bits of
// numbers and 64-bit integers (whose shifts have constant counts). It does not branch: code that is
// expensive and rarely needed is in a separate function, which is called if a test requires it
// (trig.h). float32 functions compute in float64 with shorter polynomials (Narrow) and round at the
// end.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace unisono::functions {

/// The type of integers that belongs to a number type.
template <class R>
struct WholeOf;
template <>
struct WholeOf<double> {
    using type = std::int64_t;
};
template <class R>
using Whole = typename WholeOf<R>::type;

inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline double square_root(double a) { return __builtin_sqrt(a); }
inline double round_even(double a) { return __builtin_rint(a); }
inline double magnitude(double a) { return __builtin_fabs(a); }
inline double with_sign(double size, double sign) { return __builtin_copysign(size, sign); }
inline double select(bool c, double a, double b) { return c ? a : b; }
inline std::int64_t select(bool c, std::int64_t a, std::int64_t b) { return c ? a : b; }
inline std::int64_t bits_of(double a) { return std::bit_cast<std::int64_t>(a); }
inline double number_of(std::int64_t bits) { return std::bit_cast<double>(bits); }
inline std::int64_t shift_left(std::int64_t a, int n) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << n);
}
/// Of numbers that are not negative.
inline std::int64_t shift_right(std::int64_t a, int n) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) >> n);
}
/// Wrapping.
inline std::int64_t plus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t minus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
/// Whether all elements are one number, which is then `number`.
inline bool is_one_number(double a, double& number) {
    number = a;
    return true;
}
inline bool any(bool c) { return c; }
template <std::size_t N>
double entry(const double (&table)[N], std::int64_t index) {
    return table[index];
}

// ---- What follows serves every number type --------------------------------------------------

/// c[First] + x c[First + 1] + ... of Count coefficients: pairs, pairs of these, and the fours in
/// turn, which are short chains for few products.
template <std::size_t First, std::size_t Count, class R, std::size_t N>
R polynomial_by_fours(R x, R square, R fourth, const double (&c)[N]) {
    if constexpr (Count == 1) {
        return R(c[First]);
    } else if constexpr (Count == 2) {
        return fma(R(c[First + 1]), x, R(c[First]));
    } else {
        constexpr std::size_t half = Count > 4 ? 4 : 2;
        return fma(polynomial_by_fours<First + half, Count - half>(x, square, fourth, c),
                   Count > 4 ? fourth : square,
                   polynomial_by_fours<First, half>(x, square, fourth, c));
    }
}
/// c[0] + x c[1] + x^2 c[2] + ... (no loop: vectorisers want none here). The first step stands
/// alone, since it decides the error.
template <class R, std::size_t N>
R polynomial(R x, const double (&c)[N]) {
    static_assert(N > 2);
    R square = x * x;
    return fma(polynomial_by_fours<1, N - 1>(x, square, square * square, c), x, R(c[0]));
}

/// A number as an unevaluated sum, |low| at most half an ulp of high.
template <class R>
struct Pair {
    R high, low;
};

/// a + b exactly, where |a| >= |b| or a is a multiple of b's ulp.
template <class R>
Pair<R> quick_sum(R a, R b) {
    R s = a + b;
    return {s, b - (s - a)};
}
/// a + b exactly.
template <class R>
Pair<R> exact_sum(R a, R b) {
    R s = a + b;
    R t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}
/// a * b exactly, but for underflow.
template <class R>
Pair<R> exact_product(R a, R b) {
    R p = a * b;
    return {p, fma(a, b, -p)};
}

/// The quotient of two pairs by one division; high may be off by an ulp, which low makes up for.
template <class R>
Pair<R> quotient(Pair<R> a, Pair<R> b) {
    R inverse = R(1.0) / b.high;
    R q = a.high * inverse;
    R rest = (fma(-q, b.high, a.high) + a.low) - q * b.low;
    return {q, rest * inverse};
}

/// The same where the quotient may be subnormal: high is rounded once.
template <class R>
Pair<R> rounded_quotient(Pair<R> a, Pair<R> b) {
    R q = a.high / b.high;
    R rest = (fma(-q, b.high, a.high) + a.low) - q * b.low;
    return {q, rest / b.high};
}

/// Adding and subtracting it rounds to a whole number; the low bits of the sum are that number.
inline constexpr double rounder = 0x1.8p52;

/// The nearest whole number, as number and as integer (modulo 2^51).
template <class R>
struct Rounded {
    R number;
    Whole<R> whole;
};
/// Of x * factor, for products below 2^51.
template <class R>
Rounded<R> nearest(R x, R factor) {
    R shifted = fma(x, factor, R(rounder));
    return {shifted - R(rounder), bits_of(shifted)};
}

/// 2^n for -1023 < n < 1024.
template <class R>
R power_of_two(Whole<R> n) {
    return number_of(shift_left(plus(n, Whole<R>(1023)), 52));
}

}  // namespace unisono::functions
