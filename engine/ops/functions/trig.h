// sin, cos, tan: x = k pi/2 + r, |r| <= pi/4, polynomials in r, the quadrant chosen by k's low
// bits.
//
// Up to 2^45 the reduction subtracts k times pi/2 in three parts: the first difference is exact
// (both are multiples of 2^-52 and the result is below 1), the second is kept with its error.
// Beyond, the product of x and the bits of 2/pi that matter is formed (Payne and Hanek): seldom
// needed and long, so a function of its own that callers reach by a test.
#pragma once

#include "ops/functions/number.h"

namespace unisono::functions {

inline constexpr double pi_2_high = 0x1.921fb54442d18p+0;
inline constexpr double pi_2_middle = 0x1.1a62633145c07p-54;
inline constexpr double pi_2_low = -0x1.f1976b7ed8fbcp-110;
inline constexpr double two_by_pi = 0x1.45f306dc9c883p-1;

/// Arguments beyond it take the long reduction.
inline constexpr double largest_angle = 0x1p45;

/// x as a number of quarter turns (modulo 4 in the low bits) and the rest.
template <class R>
struct Angle {
    Whole<R> quarters;
    R rest, low;
};

/// For 0 <= x <= 2^45; others give anything.
template <bool Narrow, class R>
Angle<R> reduced(R x) {
    auto k = nearest(x, R(two_by_pi));
    R t = fma(k.number, R(-pi_2_high), x);
    if constexpr (Narrow) return {k.whole, fma(k.number, R(-pi_2_middle), t), R(0.0)};
    R r = t - k.number * R(pi_2_middle);
    // t is a multiple of the product's ulp, so that t - r is exact.
    R low = fma(k.number, R(-pi_2_middle), t - r);
    return {k.whole, r, fma(k.number, R(-pi_2_low), low)};
}

/// Bits 50 j + 1 to 50 j + 50 of 2/pi behind the binary point, as whole numbers.
inline constexpr double two_by_pi_bits[] = {
    716770142402832.0,  372321092467999.0,  366375477893285.0,  449959087325694.0,
    357954108452629.0,  593127582966820.0,  972758579301306.0,  573745657609757.0,
    1034033855634683.0, 712635457924020.0,  318009698421165.0,  104995864809942.0,
    252944799224434.0,  76934606197379.0,   782844326573953.0,  448669181481355.0,
    396003307795673.0,  1104951148321652.0, 1074840692299770.0, 612931154397163.0,
    1011301269904615.0, 977075685992127.0,  800359771756354.0,  94571694849147.0,
    473544894902402.0};

/// A sum of many numbers in three parts.
template <class R>
struct LongSum {
    R high{0.0}, middle{0.0}, low{0.0};
    void add(R x) {
        auto s = exact_sum(high, x);
        auto t = exact_sum(middle, s.low);
        high = s.high;
        middle = t.high;
        low = low + t.low;
    }
};

/// For 2^45 < x < infinity; infinity and NaN give NaN.
template <class R>
Angle<R> reduced_long(R x) {
    using W = Whole<R>;
    // x = a 2^e with 2^52 <= a < 2^53. Chunk j contributes multiples of 4, which do not count,
    // where e - 50 (j + 1) >= 2. Five chunks from the first that counts leave an error below
    // 2^-140.
    W e = minus(shift_right(bits_of(x), 52) & W(2047), W(1075));
    W beyond = select(e > W(2), minus(e, W(2)), W(0));
    W first = shift_right(beyond * W(1311), 16);  // beyond / 50
    first = select(first < W(20), first, W(20));
    R part = number_of(minus(bits_of(x), shift_left(plus(first, W(1)) * W(50), 52)));
    LongSum<R> sum;
    for (int k = 0; k < 5; ++k) {
        auto p = exact_product(part, entry(two_by_pi_bits, plus(first, W(k))));
        // Modulo 4, which is exact.
        sum.add(fma(round_even(p.high * R(0.25)), R(-4.0), p.high));
        sum.add(fma(round_even(p.low * R(0.25)), R(-4.0), p.low));
        part = part * R(0x1p-50);
    }
    auto k = nearest(sum.high, R(1.0));
    auto f = exact_sum(sum.high - k.number, sum.middle);
    f = exact_sum(f.high, f.low + sum.low);
    auto r = exact_product(f.high, R(pi_2_high));
    R low = fma(f.high, R(pi_2_middle), fma(f.low, R(pi_2_high), r.low));
    R finite = x - x;  // NaN for infinity
    return {k.whole, r.high + finite, low};
}

/// (sin r - r) / r^3 and (cos r - 1 + r^2 / 2) / r^4 by r^2: minimax.
inline constexpr double sin_coefficients[] = {-0x1.5555555555555p-3,  0x1.1111111110ba6p-7,
                                              -0x1.a01a019e80a1ep-13, 0x1.71de379292381p-19,
                                              -0x1.ae6006d9b1e01p-26, 0x1.5e09988c5b3dfp-33};
inline constexpr double cos_coefficients[] = {0x1.5555555555555p-5,  -0x1.6c16c16c16960p-10,
                                              0x1.a01a019f4d280p-16, -0x1.27e4fa15da111p-22,
                                              0x1.1eeb66d0ea81cp-29, -0x1.907c1f79fb1b5p-37};

/// sin r and cos r for |r| <= pi/4 (and a little more) as sums; low is what r lacks.
template <bool Narrow, class R>
Pair<R> sin_of_rest(R r, R low) {
    R z = r * r;
    if constexpr (Narrow) {
        constexpr double c[] = {-0x1.555555545c8dfp-3, 0x1.11110deb4482ep-7, -0x1.a013a20e170abp-13,
                                0x1.6dbc30fbd8fb7p-19};
        return {r, z * r * polynomial(z, c)};
    } else {
        R cosine = R(1.0) - z * R(0.5);  // near enough for low
        return {r, fma(z * r, polynomial(z, sin_coefficients), low * cosine)};
    }
}
template <bool Narrow, class R>
Pair<R> cos_of_rest(R r, R low) {
    R z = r * r;
    if constexpr (Narrow) {
        constexpr double c[] = {0x1.55555555024a2p-5, -0x1.6c16bf52346bep-10, 0x1.a015c0b5fd54ep-16,
                                -0x1.25230d18f9428p-22};
        return {fma(z, R(-0.5), R(1.0)), z * z * polynomial(z, c)};
    } else {
        R half = z * R(0.5);
        R top = R(1.0) - half;
        R error = (R(1.0) - top) - half;
        return {top, error + fma(z * z, polynomial(z, cos_coefficients), -(r * low))};
    }
}

/// The sign bit as a whole number.
template <class R>
Whole<R> sign_bit() {
    return Whole<R>(std::numeric_limits<std::int64_t>::min());
}

/// c[0] + z c[1] + ... with the coefficients of one of two functions (a choice is cheaper than the
/// other's products).
template <class R, class Flag>
R chosen_polynomial(Flag first, R z, const double (&a)[6], const double (&b)[6]) {
    auto c = [&](int k) { return select(first, R(a[k]), R(b[k])); };
    R square = z * z;
    R high = fma(c(5), z, c(4)), middle = fma(c(3), z, c(2)), low = fma(c(1), z, c(0));
    return fma(fma(high, square, middle), square, low);
}

/// sin of the angle, negated where `sign` has the sign bit.
template <bool Narrow, class R>
R sin_of(const Angle<R>& a, Whole<R> sign) {
    using W = Whole<R>;
    auto even = (a.quarters & W(1)) == W(0);
    W flip = (shift_left(a.quarters, 62) ^ sign) & sign_bit<R>();
    R chosen(0.0);
    if constexpr (Narrow) {
        auto s = sin_of_rest<true>(a.rest, a.low), c = cos_of_rest<true>(a.rest, a.low);
        chosen = select(even, s.high + s.low, c.high + c.low);
    } else {
        // r + z r p + low cos r, or 1 - z / 2 + z z p - low r, each with the error of its front.
        R r = a.rest, z = r * r;
        R half = z * R(0.5);
        R top = R(1.0) - half;
        R error = (R(1.0) - top) - half;
        R front = select(even, r, top);
        R p = chosen_polynomial(even, z, sin_coefficients, cos_coefficients);
        R rest = select(even, a.low * top, fma(-r, a.low, error));
        chosen = front + fma(z * select(even, r, z), p, rest);
    }
    return number_of(bits_of(chosen) ^ flip);
}
template <bool Narrow, class R>
R tan_of(const Angle<R>& a, Whole<R> sign) {
    using W = Whole<R>;
    auto s = sin_of_rest<Narrow>(a.rest, a.low), c = cos_of_rest<Narrow>(a.rest, a.low);
    auto even = (a.quarters & W(1)) == W(0);
    W flip = (shift_left(a.quarters, 63) ^ sign) & sign_bit<R>();
    if constexpr (Narrow) {
        R sine = s.high + s.low, cosine = c.high + c.low;
        R ratio = select(even, sine, cosine) / select(even, cosine, sine);
        return number_of(bits_of(ratio) ^ flip);
    }
    // What the square in both lacks: a quotient has no room for it.
    R error = fma(a.rest, a.rest, -(a.rest * a.rest));
    s = quick_sum(s.high, fma(error * a.rest, R(-0x1.5555555555555p-3), s.low));
    c = quick_sum(c.high, fma(error, R(-0.5), c.low));
    auto q = quotient(Pair<R>{select(even, s.high, c.high), select(even, s.low, c.low)},
                      Pair<R>{select(even, c.high, s.high), select(even, c.low, s.low)});
    return number_of(bits_of(q.high + q.low) ^ flip);
}

template <bool Narrow, class R>
R sin(R x) {
    return sin_of<Narrow>(reduced<Narrow>(magnitude(x)), bits_of(x));
}
template <bool Narrow, class R>
R cos(R x) {
    auto a = reduced<Narrow>(magnitude(x));
    a.quarters = plus(a.quarters, Whole<R>(1));
    return sin_of<Narrow>(a, Whole<R>(0));
}
template <bool Narrow, class R>
R tan(R x) {
    return tan_of<Narrow>(reduced<Narrow>(magnitude(x)), bits_of(x));
}
/// The same for |x| beyond largest_angle.
template <class R>
R sin_long(R x) {
    return sin_of<false>(reduced_long(magnitude(x)), bits_of(x));
}
template <class R>
R cos_long(R x) {
    auto a = reduced_long(magnitude(x));
    a.quarters = plus(a.quarters, Whole<R>(1));
    return sin_of<false>(a, Whole<R>(0));
}

template <class R>
R tan_long(R x) {
    return tan_of<false>(reduced_long(magnitude(x)), bits_of(x));
}

}  // namespace unisono::functions
