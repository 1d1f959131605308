// Powers and roots: pow by a logarithm to base 2 as a pair, cbrt by Newton's iteration, hypot by
// sums of exact squares.
#pragma once

#include "ops/functions/exp.h"
#include "ops/functions/inverse.h"

namespace unisono::functions {

/// The product of two pairs, relative error some 2^-103.
template <class R>
Pair<R> product(Pair<R> a, Pair<R> b) {
    auto p = exact_product(a.high, b.high);
    R low = fma(a.high, b.low, fma(a.low, b.high, p.low));
    return quick_sum(p.high, low);
}
/// c + a where |c| is the larger.
template <class R>
Pair<R> sum_with(R high, R low, Pair<R> a) {
    auto s = quick_sum(high, a.high);
    return quick_sum(s.high, s.low + (low + a.low));
}

/// log2 of a positive number, relative error below 2^-67.
template <class R>
Pair<R> log2_pair(R x) {
    auto part = split(x, R(0.0));
    R f = part.mantissa - R(1.0);  // exact
    auto s = quotient(Pair<R>{f, R(0.0)}, quick_sum(R(2.0), f));
    s = quick_sum(s.high, s.low);
    auto w = product(s, s);
    // (2 artanh s - 2 s - 2/3 s^3 - 2/5 s^5) / s^7: minimax, error 2^-58.
    constexpr double c[] = {0x1.2492492492492p-2, 0x1.c71c71c71c835p-3, 0x1.745d1745a11c2p-3,
                            0x1.3b13b16dc877bp-3, 0x1.1110f6fcbf13ep-3, 0x1.e1f06a946fc36p-4,
                            0x1.aceca04e828edp-4, 0x1.b359f6cdfd2c5p-4};
    auto tail = sum_with(R(0x1.999999999999ap-2), R(-0x1.999999999999ap-56),
                         Pair<R>{w.high * polynomial(w.high, c), R(0.0)});
    tail = sum_with(R(0x1.5555555555555p-1), R(0x1.5555555555555p-55), product(w, tail));
    tail = sum_with(R(2.0), R(0.0), product(w, tail));
    auto bits = product(product(s, tail), Pair<R>{R(log2_e), R(0x1.777d0ffda0d24p-56)});
    auto total = quick_sum(part.exponent, bits.high);
    return quick_sum(total.high, total.low + bits.low);
}

/// The same; powers that are rounded to float32 need less.
template <bool Narrow, class R>
Pair<R> log2_for_power(R x) {
    if constexpr (Narrow) {
        auto part = split(x, R(0.0));
        auto m = log_of_mantissa(part.mantissa, R(0.0));
        return {fma(m.high, R(log2_e), part.exponent), R(0.0)};
    } else {
        return log2_pair(x);
    }
}

/// 2^(x + low), low far below x.
template <bool Narrow, class R>
R exp2_of_sum(R x, R low) {
    auto is_inside = magnitude(x) < R(1100.0);
    low = select(is_inside, low, R(0.0));
    x = select(is_inside, x, select(x > R(0.0), R(1100.0), select(x < R(0.0), R(-1100.0), x)));
    auto n = nearest(x, R(1.0));
    R f = x - n.number;  // exact
    auto r = exact_product(f, R(ln2_high));
    R rest = fma(low, R(ln2_high), fma(f, R(ln2_low), r.low));
    R small = r.high + rest;
    auto sum = quick_sum(R(1.0), r.high);
    R tail = fma(small * small, exp_tail<Narrow>(small), rest);
    return scaled(sum.high + (sum.low + tail), n.whole);
}

template <bool Narrow, class R>
R pow(R x, R y) {
    using W = Whole<R>;
    R size = magnitude(x), exponent = magnitude(y);
    auto is_proper = (size > R(0.0)) & (size < R(infinite));
    R base = select(is_proper, size, R(1.0));
    auto log = log2_for_power<Narrow>(base);
    // log2 of 0 and infinity; NaN comes in at the end.
    R ends = select(size == R(0.0), R(-infinite), R(infinite));
    R high = select(is_proper, log.high, ends);
    auto p = exact_product(y, log.high);
    R r = exp2_of_sum<Narrow>(y * high, fma(y, log.low, p.low));

    // Whether y is a whole number, and odd: by what adding 2^52 leaves of it.
    auto is_huge = exponent >= R(0x1p52);
    R shifted = select(is_huge, exponent, exponent + R(0x1p52));
    auto is_whole = is_huge | (shifted - R(0x1p52) == exponent);
    auto is_odd = is_whole & (exponent < R(0x1p53)) & ((bits_of(shifted) & W(1)) == W(1));
    auto is_left = with_sign(R(1.0), x) < R(0.0);
    r = select(is_left & is_odd, -r, r);
    r = select(is_left & is_proper & (!is_whole), R(not_a_number), r);
    r = select((x == x) & (y == y), r, x + y);
    auto is_one = (x == R(1.0)) | (y == R(0.0)) | ((x == R(-1.0)) & (exponent == R(infinite)));
    return select(is_one, R(1.0), r);
}

template <bool Narrow, class R>
R hypot(R x, R y) {
    R a = magnitude(x), b = magnitude(y);
    R r = square_root(fma(a, a, b * b));
    if constexpr (!Narrow) {
        R most = select(a < b, b, a), least = select(a < b, a, b);
        R factor =
            select(most > R(0x1p500), R(0x1p-600), select(most < R(0x1p-450), R(0x1p600), R(1.0)));
        R back =
            select(most > R(0x1p500), R(0x1p600), select(most < R(0x1p-450), R(0x1p-600), R(1.0)));
        auto first = exact_product(most * factor, most * factor);
        auto second = exact_product(least * factor, least * factor);
        auto sum = quick_sum(first.high, second.high);
        R root = square_root(sum.high);
        R low = sum.low + (first.low + second.low);
        r = (root + rest_of_root(root, sum.high, low)) * back;
    }
    auto is_endless = (a == R(infinite)) | (b == R(infinite));
    return select(is_endless, R(infinite), r);
}

template <bool Narrow, class R>
R cbrt(R x) {
    // x = 2^3k a with a in [0.35, 2.83).
    R size = magnitude(x);
    auto part = split(size, R(0.0));
    auto third = nearest(part.exponent, R(0x1.5555555555555p-2));
    R a = scaled(part.mantissa, bits_of(fma(third.number, R(-3.0), part.exponent) + R(rounder)));
    constexpr double c[] = {0x1.d9791fa065e71p-2, 0x1.a611f14b28b5ap-1, -0x1.89bafa48e013ep-2,
                            0x1.ca057be3c50fdp-4, -0x1.ab6034d4c248ep-7};  // error 2^-8.6
    R r = polynomial(a, c);
    // Halley's steps: 26 bits, then all but the last.
    for (int step = 0; step < 2; ++step) {
        R cube = r * r * r;
        r = r - r * ((cube - a) / (cube + cube + a));
    }
    auto square = exact_product(r, r);
    auto cube = exact_product(square.high, r);
    R error = (a - cube.high) - fma(square.low, r, cube.low);
    r = scaled(r + error / (square.high * R(3.0)), third.whole);
    return select((x != R(0.0)) & (size < R(infinite)), with_sign(r, x), x);
}

}  // namespace unisono::functions
