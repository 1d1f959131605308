// log and its kin: x = 2^k m, sqrt(1/2) <= m < sqrt(2), log m = 2 artanh((m - 1) / (m + 1)) as a
// pair.
#pragma once

#include "ops/functions/number.h"

namespace unisono::functions {

inline constexpr double ln2_high = 0x1.62e42fefa39efp-1;
inline constexpr double ln2_low = 0x1.abc9e3b39803fp-56;
inline constexpr double log2_e = 0x1.71547652b82fep+0;
/// ln 2 in parts of which the first has zeros at its end: its product with an exponent is exact.
inline constexpr double ln2_front = 0x1.62e42fefa3800p-1;
inline constexpr double ln2_rest = 0x1.ef35793c76730p-45;

/// x = 2^exponent mantissa, or x + low = 2^exponent (mantissa + rest), for positive x.
template <class R>
struct Split {
    R exponent, mantissa, rest;
};
template <bool Narrow, class R, class... Low>
Split<R> split(R x, Low... low) {
    using W = Whole<R>;
    auto is_small = x < R(0x1p-1022);  // no float32 is
    R normal = Narrow ? x : select(is_small, x * R(0x1p54), x);
    W bits = bits_of(normal);
    // The exponent of x / sqrt(1/2), plus 1023: never negative.
    W k = shift_right(plus(minus(bits, W(0x3fe6a09e667f3bcd)), W(0x3ff0000000000000)), 52);
    R exponent = number_of(k | W(0x4330000000000000)) - R(0x1p52 + 1023);
    R mantissa = number_of(minus(bits, shift_left(minus(k, W(1023)), 52)));
    R rest(0.0);
    if constexpr (sizeof...(low) == 1) {
        // What is below a large x does not count; its factor 2^-k stays a number.
        W places = select(k < W(2000), k, W(2000));
        rest = (low * ...) * number_of(shift_left(minus(W(2046), places), 52));
    }
    return {Narrow ? exponent : select(is_small, exponent - R(54.0), exponent), mantissa, rest};
}

/// log(m), or log(m + rest), for m in [sqrt(1/2), sqrt(2)], relative error below 2^-58: 2 s and
/// what it lacks, a hundredth of it (but all of it where m is 1).
template <class R, class... Rest>
Pair<R> log_in_parts(R m, Rest... rest) {
    R f = m - R(1.0);  // exact
    auto sum = quick_sum(R(2.0), f);
    R inverse = R(1.0) / sum.high;
    R s = f * inverse;
    R error = fma(-s, sum.high, f);
    if constexpr (sizeof...(rest) == 1) {
        error = error + ((rest + ...) - s * (sum.low + (rest + ...)));
    } else {
        error = fma(-s, sum.low, error);
    }
    R w = s * s;
    // (2 artanh s - 2 s - 2/3 s^3) / s^5: minimax, error 2^-59.
    constexpr double c[] = {0x1.999999999999ap-2, 0x1.2492492492525p-2, 0x1.c71c71c6e9a43p-3,
                            0x1.745d177b6c625p-3, 0x1.3b13957be162ap-3, 0x1.1118d9a1f288ep-3,
                            0x1.df792d194ad57p-4, 0x1.e0533fdb7d1e0p-4};
    R p = fma(polynomial(w, c), w, R(0x1.5555555555555p-1));
    return {s + s, fma(s * w, p, error * (inverse + inverse))};
}

/// log(m) as a pair.
template <class R>
Pair<R> log_of_mantissa(R m) {
    auto parts = log_in_parts(m);
    return quick_sum(parts.high, parts.low);
}

/// log(m + rest) where the result is rounded to float32: relative error below 2^-42.
template <class R, class... Rest>
R log_of_mantissa_narrow(R m, Rest... rest) {
    R f = ((m - R(1.0)) + ... + rest);
    R s = f / (f + R(2.0));
    R w = s * s;
    constexpr double c[] = {0x1.5555555564f23p-1, 0x1.999998ca9ec73p-2, 0x1.2493242f22b76p-2,
                            0x1.c67ab529f564fp-3, 0x1.8c8edd9198f8ep-3};
    return fma(s * w, polynomial(w, c), s + s);
}

/// What log gives where x is zero, negative, infinite or not a number, else r.
template <class R>
R log_with_limits(R x, R r) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    r = select(x < R(infinity), r, x);
    return select(x > R(0.0), r, select(x == R(0.0), R(-infinity), R(nan)));
}

/// The logarithm of a number in these parts; without a rest where none is passed.
template <bool Narrow, class R, class... Rest>
R log_of_parts(R exponent, R mantissa, Rest... rest) {
    if constexpr (Narrow) {
        return fma(exponent, R(ln2_high), log_of_mantissa_narrow(mantissa, rest...));
    } else {
        auto m = log_in_parts(mantissa, rest...);
        auto front = quick_sum(exponent * R(ln2_front), m.high);
        return front.high + (m.low + fma(exponent, R(ln2_rest), front.low));
    }
}

/// log(x + low).
template <bool Narrow, class R>
R log_of_sum(R x, R low) {
    auto part = split<Narrow>(x, low);
    return log_of_parts<Narrow>(part.exponent, part.mantissa, part.rest);
}

template <bool Narrow, class R>
R log(R x) {
    auto part = split<Narrow>(x);
    return log_with_limits(x, log_of_parts<Narrow>(part.exponent, part.mantissa));
}

template <bool Narrow, class R>
R log1p(R x) {
    auto sum = exact_sum(R(1.0), x);
    R r = log_with_limits(sum.high, log_of_sum<Narrow>(sum.high, sum.low));
    r = select(x < R(std::numeric_limits<double>::infinity()), r, x);
    return select(x == R(0.0), x, r);
}

template <bool Narrow, class R>
R log2(R x) {
    auto part = split<Narrow>(x);
    if constexpr (Narrow) {
        R m = log_of_mantissa_narrow(part.mantissa);
        return log_with_limits(x, fma(m, R(log2_e), part.exponent));
    }
    auto m = log_of_mantissa(part.mantissa);
    auto p = exact_product(m.high, R(0x1.71547652b82fep+0));
    R low = fma(m.low, R(0x1.71547652b82fep+0), fma(m.high, R(0x1.777d0ffda0d24p-56), p.low));
    auto sum = quick_sum(part.exponent, p.high);
    return log_with_limits(x, sum.high + (sum.low + low));
}

template <bool Narrow, class R>
R log10(R x) {
    auto part = split<Narrow>(x);
    if constexpr (Narrow) {
        R m = log_of_mantissa_narrow(part.mantissa);
        return log_with_limits(
            x, fma(m, R(0x1.bcb7b1526e50ep-2), part.exponent * R(0x1.34413509f79ffp-2)));
    }
    auto m = log_of_mantissa(part.mantissa);
    auto p = exact_product(m.high, R(0x1.bcb7b1526e50ep-2));
    R low = fma(m.low, R(0x1.bcb7b1526e50ep-2), fma(m.high, R(0x1.95355baaafad3p-57), p.low));
    auto sum = quick_sum(part.exponent * R(0x1.34413509f7800p-2), p.high);
    return log_with_limits(
        x, sum.high + (sum.low + fma(part.exponent, R(0x1.fef311f12b358p-46), low)));
}

}  // namespace unisono::functions
