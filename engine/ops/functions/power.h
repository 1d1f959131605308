// Powers and roots: pow by a logarithm as a pair, cbrt by Newton's iteration, hypot by
// sums of exact squares.
#pragma once

#include "ops/functions/exp.h"
#include "ops/functions/inverse.h"

namespace unisono::functions {

/// log(2^k m) for a positive mantissa in [sqrt(1/2), sqrt(2)], relative error below 2^-64.
template <class R>
Pair<R> log_for_power(R k, R m) {
    // s + s_low = (m - 1) / (m + 1) by one reciprocal.
    R f = m - R(1.0);  // exact
    auto sum = quick_sum(R(2.0), f);
    R inverse = R(1.0) / sum.high;
    R s = f * inverse;
    R s_low = fma(-s, sum.low, fma(-s, sum.high, f)) * inverse;
    R w = s * s;
    R w_low = fma(s + s, s_low, fma(s, s, -w));
    // (2 artanh s - 2 s - 2/3 s^3) / s^5: minimax, error 2^-59.
    constexpr double c[] = {0x1.999999999999ap-2, 0x1.2492492492492p-2, 0x1.c71c71c71c835p-3,
                            0x1.745d1745a11c2p-3, 0x1.3b13b16dc877bp-3, 0x1.1110f6fcbf13ep-3,
                            0x1.e1f06a946fc36p-4, 0x1.aceca04e828edp-4, 0x1.b359f6cdfd2c5p-4};
    auto third = quick_sum(R(0x1.5555555555555p-1), w * polynomial(w, c));
    R third_low = third.low + R(0x1.5555555555555p-55);
    // s w third, then k ln 2 + 2 s + that.
    auto part = exact_product(w, third.high);
    R part_low = fma(w, third_low, fma(w_low, third.high, part.low));
    auto rest = exact_product(s, part.high);
    R rest_low = fma(s, part_low, fma(s_low, part.high, rest.low));
    auto front = quick_sum(k * R(ln2_front), s + s);
    auto high = quick_sum(front.high, rest.high);
    R low = (front.low + high.low) + fma(k, R(ln2_rest), fma(s_low, R(2.0), rest_low));
    return quick_sum(high.high, low);
}

/// e^(x + low), low far below x; where x is infinite low does not count.
template <class R>
R exp_of_sum(R x, R low) {
    low = select(magnitude(x) < R(750.0), low, R(0.0));
    x = select(x > R(710.0), R(710.0), x);
    x = select(x < R(-746.0), R(-746.0), x);
    auto n = nearest(x, R(log2_e));
    R r = fma(n.number, R(-ln2_high), x);  // exact
    R rest = fma(n.number, R(-ln2_low), low);
    R small = r + rest;
    auto sum = quick_sum(R(1.0), r);
    R tail = fma(small * small, exp_tail<false>(small), rest);
    return scaled_exponential(sum.high + (sum.low + tail), n.whole, x < R(0.0));
}

/// |x|^y; zero and infinity take their limits from those of the logarithm.
template <bool Narrow, class R>
R power_of_size(R size, R y) {
    auto part = split<Narrow>(size);  // of 0, infinity and NaN: anything finite
    Pair<R> log{R(0.0), R(0.0)};
    if constexpr (Narrow) {
        log.high = log_of_parts<true>(part.exponent, part.mantissa);
    } else {
        log = log_for_power(part.exponent, part.mantissa);
    }
    R high = select(size < R(infinite), log.high, size);
    high = select(size == R(0.0), R(-infinite), high);
    if constexpr (Narrow) return exp_narrow(y * high);
    auto p = exact_product(y, high);
    return exp_of_sum(p.high, fma(y, log.low, p.low));
}

template <bool Narrow, class R>
R pow(R x, R y) {
    using W = Whole<R>;
    R size = magnitude(x), exponent = magnitude(y);
    R r = power_of_size<Narrow>(size, y);

    // Whether y is a whole number, and odd: by what adding 2^52 leaves of it.
    auto is_huge = exponent >= R(0x1p52);
    R shifted = select(is_huge, exponent, exponent + R(0x1p52));
    auto is_whole = is_huge | (shifted - R(0x1p52) == exponent);
    W odd = select(is_whole & (exponent < R(0x1p53)), shift_left(bits_of(shifted), 63), W(0));
    r = number_of(bits_of(r) ^ (bits_of(x) & odd));
    r = select((x < R(0.0)) & (size < R(infinite)) & (!is_whole), R(not_a_number), r);
    auto is_one = (x == R(1.0)) | (y == R(0.0)) | ((x == R(-1.0)) & (exponent == R(infinite)));
    return select(is_one, R(1.0), r);
}

/// x^(Halves / 2) from the root of x, its error and that of the product with x; for arguments far
/// from 1 of x 2^(+-600), whose results need a factor.
template <int Halves, bool Narrow, class R>
R half_power(R x) {
    static_assert(Halves == -1 || Halves == 3 || Halves == -3);
    constexpr bool is_inverse = Halves < 0, has_product = Halves != -1;
    R size = select(x == R(-infinite), R(infinite), x);
    auto is_large = size > R(0x1p300), is_small = size < R(0x1p-300);
    R a = size;
    if constexpr (!Narrow)
        a = size * select(is_large, R(0x1p-600), select(is_small, R(0x1p600), R(1.0)));
    R root = square_root(a);
    R error = fma(-root, root, a);  // the root is root + error / (2 root)
    Pair<R> power{root, R(0.0)};
    if constexpr (has_product) {
        power = exact_product(a, root);
        power.low = fma(error, root * R(0.5), power.low);
    }
    R r = power.high + power.low;
    if constexpr (is_inverse) {
        R inverse = R(1.0) / power.high;
        R low = has_product ? power.low * inverse : error * R(0.5) * (inverse * inverse);
        r = fma(inverse, fma(-inverse, power.high, R(1.0)) - low, inverse);
    }
    if constexpr (!Narrow) {
        constexpr double up = has_product ? 0x1p900 : 0x1p300,
                         down = has_product ? 0x1p-900 : 0x1p-300;
        r = r * select(is_large, R(is_inverse ? down : up),
                       select(is_small, R(is_inverse ? up : down), R(1.0)));
    }
    r = select(size == R(infinite), R(is_inverse ? 0.0 : infinite), r);
    return select(x == R(0.0), R(is_inverse ? infinite : 0.0), r);
}
template <bool Narrow, class R>
R inverse_root(R x) {
    return half_power<-1, Narrow>(x);
}
template <bool Narrow, class R>
R three_halves(R x) {
    return half_power<3, Narrow>(x);
}
template <bool Narrow, class R>
R inverse_three_halves(R x) {
    return half_power<-3, Narrow>(x);
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

/// x 2^n for a whole number n (of others what is left without the fraction), rounded once.
template <bool Narrow, class R>
R ldexp(R x, R n) {
    using W = Whole<R>;
    constexpr double most = Narrow ? 400.0 : 5000.0;  // beyond the exponents of the format
    n = select(n > R(-most), n, R(-most));
    n = select(n < R(most), n, R(most));
    R whole = nearest(magnitude(n), R(1.0)).number;
    n = with_sign(select(whole > magnitude(n), whole - R(1.0), whole), n);
    if constexpr (Narrow) return x * power_of_two<R>(nearest(n, R(1.0)).whole);
    auto is_small = magnitude(x) < R(0x1p-1022);
    W bits = bits_of(select(is_small, x * R(0x1p54), x));
    W places = shift_right(bits & W(std::int64_t{0x7ff} << 52), 52);
    R exponent = number_of(places | W(0x4330000000000000)) - R(0x1p52) + n;
    exponent = select(is_small, exponent - R(54.0), exponent);
    exponent = select(exponent < R(2047.0), exponent, R(2047.0));
    exponent = select(exponent > R(-60.0), exponent, R(-60.0));
    // Off the ends of the range first, then there by one product.
    auto is_low = exponent < R(1000.0);
    W kept = nearest(exponent + select(is_low, R(100.0), R(-100.0)), R(1.0)).whole;
    W fraction = bits & W(~(std::int64_t{0x7ff} << 52));
    R r = number_of(fraction | shift_left(kept, 52)) * select(is_low, R(0x1p-100), R(0x1p100));
    return select((x != R(0.0)) & (magnitude(x) < R(infinite)), r, x);
}

template <bool Narrow, class R>
R cbrt(R x) {
    // x = 2^3k a with a in [0.35, 2.83).
    R size = magnitude(x);
    auto part = split<Narrow>(size);
    auto third = nearest(part.exponent, R(0x1.5555555555555p-2));
    R left = fma(third.number, R(-3.0), part.exponent) + R(rounder);
    R a = part.mantissa * power_of_two<R>(bits_of(left));
    constexpr double c[] = {0x1.d9791fa065e71p-2, 0x1.a611f14b28b5ap-1, -0x1.89bafa48e013ep-2,
                            0x1.ca057be3c50fdp-4, -0x1.ab6034d4c248ep-7};  // error 2^-8.6
    R r = polynomial(a, c);
    // Halley's steps: 26 bits, then all but the last.
    for (int step = 0; step < 2; ++step) {
        R cube = r * r * r;
        r = r - r * ((cube - a) / (cube + cube + a));
    }
    if constexpr (Narrow) {
        r = r * power_of_two<R>(third.whole);
        return select((x != R(0.0)) & (size < R(infinite)), with_sign(r, x), x);
    }
    auto square = exact_product(r, r);
    auto cube = exact_product(square.high, r);
    R error = (a - cube.high) - fma(square.low, r, cube.low);
    r = (r + error / (square.high * R(3.0))) * power_of_two<R>(third.whole);
    return select((x != R(0.0)) & (size < R(infinite)), with_sign(r, x), x);
}

}  // namespace unisono::functions
