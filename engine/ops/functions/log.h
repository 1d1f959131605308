// log and its kin: x = 2^k m, sqrt(1/2) <= m < sqrt(2), log m = 2 artanh((m - 1) / (m + 1)) as a
// pair.
#pragma once

#include "ops/functions/number.h"

namespace unisono::functions {

/// ln 2 in parts of which the first has zeros at its end: its product with an exponent is exact.
inline constexpr double ln2_front = 0x1.62e42fefa3800p-1;
inline constexpr double ln2_rest = 0x1.ef35793c76730p-45;

/// x + low = 2^exponent (mantissa + rest), for positive x.
template <class R>
struct Split {
    R exponent, mantissa, rest;
};
template <class R>
Split<R> split(R x, R low) {
    using W = Whole<R>;
    auto is_small = x < R(0x1p-1022);
    R normal = select(is_small, x * R(0x1p54), x);
    W bits = bits_of(normal);
    // The exponent of x / sqrt(1/2), plus 1023: never negative.
    W k = shift_right(plus(minus(bits, W(0x3fe6a09e667f3bcd)), W(0x3ff0000000000000)), 52);
    R exponent = number_of(k | W(0x4330000000000000)) - R(0x1p52 + 1023);
    R mantissa = number_of(minus(bits, shift_left(minus(k, W(1023)), 52)));
    // What is below a large x does not count; its factor 2^-k stays a number.
    W places = select(k < W(2000), k, W(2000));
    R rest = low * number_of(shift_left(minus(W(2046), places), 52));
    return {select(is_small, exponent - R(54.0), exponent), mantissa, rest};
}

/// log(m + rest) for m in [sqrt(1/2), sqrt(2)], relative error below 2^-58.
template <class R>
Pair<R> log_of_mantissa(R m, R rest) {
    R f = m - R(1.0);  // exact
    auto sum = quick_sum(R(2.0), f);
    R twice = R(2.0) / sum.high;
    R s = f * twice * R(0.5);
    R error = fma(-s, sum.high, f) + (rest - s * (sum.low + rest));
    R w = s * s;
    // (2 artanh s - 2 s - 2/3 s^3) / s^5: minimax, error 2^-59.
    constexpr double c[] = {0x1.999999999999ap-2, 0x1.2492492492525p-2, 0x1.c71c71c6e9a43p-3,
                            0x1.745d177b6c625p-3, 0x1.3b13957be162ap-3, 0x1.1118d9a1f288ep-3,
                            0x1.df792d194ad57p-4, 0x1.e0533fdb7d1e0p-4};
    R p = fma(polynomial(w, c), w, R(0x1.5555555555555p-1));
    return quick_sum(s + s, fma(s * w, p, error * twice));
}

/// What log gives where x is zero, negative, infinite or not a number, else r.
template <class R>
R log_with_limits(R x, R r) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    r = select(x < R(infinity), r, x);
    return select(x > R(0.0), r, select(x == R(0.0), R(-infinity), R(nan)));
}

template <class R>
R log_of_split(Split<R> part) {
    auto m = log_of_mantissa(part.mantissa, part.rest);
    auto sum = quick_sum(part.exponent * R(ln2_front), m.high);
    return sum.high + (sum.low + fma(part.exponent, R(ln2_rest), m.low));
}

/// log(x + low).
template <class R>
R log_of_sum(R x, R low) {
    return log_of_split(split(x, low));
}

template <bool Narrow, class R>
R log(R x) {
    return log_with_limits(x, log_of_sum(x, R(0.0)));
}

template <bool Narrow, class R>
R log1p(R x) {
    auto sum = exact_sum(R(1.0), x);
    R r = log_with_limits(sum.high, log_of_sum(sum.high, sum.low));
    r = select(x < R(std::numeric_limits<double>::infinity()), r, x);
    return select(x == R(0.0), x, r);
}

template <bool Narrow, class R>
R log2(R x) {
    auto part = split(x, R(0.0));
    auto m = log_of_mantissa(part.mantissa, R(0.0));
    auto p = exact_product(m.high, R(0x1.71547652b82fep+0));
    R low = fma(m.low, R(0x1.71547652b82fep+0), fma(m.high, R(0x1.777d0ffda0d24p-56), p.low));
    auto sum = quick_sum(part.exponent, p.high);
    return log_with_limits(x, sum.high + (sum.low + low));
}

template <bool Narrow, class R>
R log10(R x) {
    auto part = split(x, R(0.0));
    auto m = log_of_mantissa(part.mantissa, R(0.0));
    auto p = exact_product(m.high, R(0x1.bcb7b1526e50ep-2));
    R low = fma(m.low, R(0x1.bcb7b1526e50ep-2), fma(m.high, R(0x1.95355baaafad3p-57), p.low));
    auto sum = quick_sum(part.exponent * R(0x1.34413509f7800p-2), p.high);
    return log_with_limits(
        x, sum.high + (sum.low + fma(part.exponent, R(0x1.fef311f12b358p-46), low)));
}

}  // namespace unisono::functions
