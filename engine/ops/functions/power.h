// Powers and roots: pow by products or by a logarithm as a pair, cbrt by Newton's iteration, hypot
// by sums of exact squares.
#pragma once

#include <bit>

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

/// The largest whole number n for which x^n and x^-n are products.
inline constexpr int most_factors = 64;

/// Whether x^y is made of products.
[[gnu::always_inline]] inline bool is_product(double y) {
    return magnitude(y) <= most_factors && y == static_cast<double>(static_cast<int>(y));
}

/// The square of a sum, and its product with a number: what is left out of `low` is far below it.
template <class R>
Pair<R> square_of(Pair<R> p) {
    auto high = exact_product(p.high, p.high);
    return {high.high, fma(p.high + p.high, p.low, high.low)};
}
template <class R>
Pair<R> times(Pair<R> p, R a) {
    auto high = exact_product(p.high, a);
    return {high.high, fma(p.low, a, high.low)};
}

/// The magnitude of x times a power of two, and the power of two that undoes this in x^n or x^-n:
/// what lies between the limits of the format has products far from them.
template <class R>
struct ScaledBase {
    R base, undo;
};
template <class R>
ScaledBase<R> scaled_base(R x, R down, R up, R undo_down, R undo_up) {
    R size = magnitude(x);
    auto is_large = size > R(1.0);
    return {size * select(is_large, down, up), select(is_large, undo_down, undo_up)};
}

/// The power, that times a number, or its inverse: rounded once where it is a normal number.
template <class R>
R rounded_power(Pair<R> p, R undo) {
    R sum = p.high + p.low;
    return select(sum == sum, sum, p.high) * undo;  // infinite powers have no low part
}
template <class R>
R rounded_power(Pair<R> p, R a, R undo) {
    R product = fma(p.high, a, p.low * a);
    return select(product == product, product, p.high * a) * undo;
}
template <class R>
R rounded_inverse(Pair<R> p, R undo) {
    R inverse = R(1.0) / p.high;
    R sum = fma(inverse, fma(-inverse, p.high, R(1.0)) - p.low * inverse, inverse);
    return select(sum == sum, sum, inverse) * undo;
}

/// x^3, the product of x and the two parts of its square, rounded once. Without a scale: what the
/// low part loses near the limits of the format is less than a unit in the last place.
template <class R>
R cube(R x) {
    auto square = exact_product(x, x);
    // Beyond, the power is infinite, and its low part would be, too.
    R rest = select(square.high < R(0x1p684), square.low * x, R(0.0));
    return fma(square.high, x, rest);
}
/// Of a result of that sign, or a zero or a magnitude.
template <class R>
R with_sign_of(R x, R result) {
    return number_of(bits_of(result) | (bits_of(x) & Whole<R>(std::int64_t{1} << 63)));
}

/// x^n for one n, |n| <= most_factors, by squares and products from its highest bit on.
template <bool Narrow, class R>
R power_by_products(R x, int n) {
    const int factors = n < 0 ? -n : n;
    if (factors == 0) return R(1.0);
    if (!Narrow && n == 2) return x * x;
    if (!Narrow && factors == 1) return n < 0 ? R(1.0) / x : x;
    int bit = std::bit_width(static_cast<unsigned>(factors)) - 1;
    if constexpr (Narrow) {
        R p = x;
        while (bit-- > 0) {
            p = p * p;
            if (factors >> bit & 1) p = p * x;
        }
        return n < 0 ? R(1.0) / p : p;
    }
    if (n == 3) return cube(x);
    const int places = (512 + factors / 2) / factors;
    const int all = n < 0 ? -places * factors : places * factors;
    auto two_to = [](int e) { return R(number_of(std::int64_t{e + 1023} << 52)); };
    auto [a, undo] = scaled_base(x, two_to(-places), two_to(places), two_to(all), two_to(-all));
    Pair<R> p = exact_product(a, a);
    while (--bit > 0) {
        if (factors >> bit & 1) p = times(p, a);
        p = square_of(p);
    }
    const bool is_odd = factors % 2 != 0;
    if (n < 0) {
        R r = rounded_inverse(is_odd ? times(p, a) : p, undo);
        return is_odd ? with_sign_of(x, r) : r;
    }
    return is_odd ? with_sign_of(x, rounded_power(p, a, undo)) : rounded_power(p, undo);
}

/// Of each element: whether n is at most few_factors, and the parts of all products are normal
/// numbers, so that they need no scale.
inline constexpr int few_factors = 15;
template <bool Narrow, class R>
auto has_few_factors(R x, R n) {
    auto is_few = (n >= R(0.0)) & (n <= R(few_factors));
    if constexpr (Narrow) return is_few;
    R size = magnitude(x);
    return is_few & (size >= R(0x1p-32)) & (size <= R(0x1p32));
}

/// x^n for an n of each element, with the same bits as all others.
template <bool Narrow, class R>
R power_by_few_products(R x, R n) {
    using W = Whole<R>;
    W bits = bits_of(n + R(0x1p52));
    auto has = [&](int bit) {
        return (bits & W(std::int64_t{1} << bit)) == W(std::int64_t{1} << bit);
    };
    constexpr int top = 3;
    static_assert(few_factors == (2 << top) - 1);
    R first = select(has(top), x, R(1.0));
    if constexpr (Narrow) {
        R p = first;
        for (int bit = top - 1; bit >= 0; --bit) {
            p = p * p;
            p = select(has(bit), p * x, p);
        }
        return p;
    }
    Pair<R> square = exact_product(first, first);
    for (int bit = top - 1; bit > 0; --bit) {
        auto more = times(square, x);
        square = square_of(Pair<R>{select(has(bit), more.high, square.high),
                                   select(has(bit), more.low, square.low)});
    }
    return select(has(0), fma(square.high, x, square.low * x), square.high + square.low);
}

/// The same for an n of each element (a whole number, |n| <= most_factors), with the same bits.
template <bool Narrow, class R>
R power_by_products(R x, R n) {
    using W = Whole<R>;
    if (!any(!has_few_factors<Narrow>(x, n))) return power_by_few_products<Narrow>(x, n);
    R factors = magnitude(n);
    auto is_inverse = n < R(0.0);
    W bits = bits_of(factors + R(0x1p52));
    auto has = [&](int bit) {
        return (bits & W(std::int64_t{1} << bit)) == W(std::int64_t{1} << bit);
    };
    constexpr int top = 6;
    static_assert(most_factors < 2 << top);
    if constexpr (Narrow) {
        R p = R(1.0);
        for (int bit = top; bit >= 0; --bit) {
            p = p * p;
            p = select(has(bit), p * x, p);
        }
        return select(is_inverse, R(1.0) / p, p);
    }
    auto places = nearest(R(512.0) / factors, R(1.0));
    R all = places.number * factors;
    auto two_to = [](R e) { return power_of_two<R>(nearest(e, R(1.0)).whole); };
    R forth = select(is_inverse, -all, all);
    auto [a, undo] = scaled_base(x, two_to(-places.number), two_to(places.number), two_to(forth),
                                 two_to(-forth));
    Pair<R> p{R(1.0), R(0.0)}, square = p;
    for (int bit = top; bit >= 0; --bit) {
        if (!any(factors >= R(static_cast<double>(1 << bit)))) continue;  // p is still one
        square = square_of(p);
        auto more = times(square, a);
        p = {select(has(bit), more.high, square.high), select(has(bit), more.low, square.low)};
    }
    R forward = select(has(0), rounded_power(square, a, undo), rounded_power(square, undo));
    R r = select(is_inverse, rounded_inverse(p, undo), forward);
    r = number_of(bits_of(r) | (bits_of(x) & shift_left(bits, 63)));
    r = select(factors == R(1.0), select(is_inverse, R(1.0) / x, x), r);
    r = select(n == R(3.0), cube(x), r);
    return select(n == R(2.0), x * x, select(factors == R(0.0), R(1.0), r));
}

/// Of each element: whether x^y is made of products.
template <class R>
auto is_product_of(R y) {
    R size = magnitude(y);
    return (size <= R(most_factors)) & (nearest(size, R(1.0)).number == size);
}

/// x^y by a logarithm, for exponents that are none of products.
template <bool Narrow, class R>
R power_by_logarithm(R x, R y) {
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

template <bool Narrow, class R>
R pow(R x, R y) {
    if (double known; is_one_number(y, known)) {
        return is_product(known) ? power_by_products<Narrow>(x, static_cast<int>(known))
                                 : power_by_logarithm<Narrow>(x, y);
    }
    auto is_whole = is_product_of(y);
    if (!any(!is_whole)) return power_by_products<Narrow>(x, y);
    R r = power_by_logarithm<Narrow>(x, y);
    if (!any(is_whole)) return r;
    return select(is_whole, power_by_products<Narrow>(x, select(is_whole, y, R(0.0))), r);
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
