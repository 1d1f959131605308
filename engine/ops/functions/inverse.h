// The inverse functions: of angles by one polynomial each after reduction, hyperbolic ones by the
// logarithm of a pair.
#pragma once

#include "ops/functions/log.h"

namespace unisono::functions {

inline constexpr double pi_high = 0x1.921fb54442d18p+1, pi_low = 0x1.1a62633145c07p-53;
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// The part of a square root of high + low that the rounded root lacks; root is not 0.
template <class R>
R rest_of_root(R root, R high, R low) {
    R divisor = select(root > R(0.0), root + root, R(1.0));
    return (fma(-root, root, high) + low) / divisor;
}

/// base +- arctan(a / b) for 0 <= a, b (not both 0, finite), as y in the half plane given by x's
/// sign.
template <bool Narrow, class R, class Flag>
R angle_of(R a, R b, Flag is_left) {
    constexpr double half = 0.41421356237309503;  // tan(pi / 8)
    auto is_low = a <= b * R(half);
    auto is_high = a * R(half) > b;
    if constexpr (Narrow) {
        R z = select(is_low, a, select(is_high, -b, a - b)) /
              select(is_low, b, select(is_high, a, a + b));
        R square = z * z;
        constexpr double c[] = {-0x1.5555555552614p-2, 0x1.999999885d999p-3,  -0x1.249240da41636p-3,
                                0x1.c719636d4b2cap-4,  -0x1.7415b3b39088ap-4, 0x1.377e031c91c5ep-4,
                                -0x1.edc0eb9c0960ep-5, 0x1.0df9d68ec3cb8p-5};
        R angle = fma(z * square, polynomial(square, c), z) +
                  select(is_low, R(0.0), select(is_high, R(pi_high * 0.5), R(pi_high * 0.25)));
        return select(is_left, R(pi_high) - angle, angle);
    }
    // The angle less 0, pi / 4 or pi / 2 has a tangent of at most tan(pi / 8).
    auto difference = exact_sum(a, -b);
    auto sum = exact_sum(a, b);
    R zero(0.0);
    R top = select(is_low, a, select(is_high, -b, difference.high));
    R top_low = select(is_low, zero, select(is_high, zero, difference.low));
    R bottom = select(is_low, b, select(is_high, a, sum.high));
    R bottom_low = select(is_low, zero, select(is_high, zero, sum.low));
    auto z = rounded_quotient(Pair<R>{top, top_low}, Pair<R>{bottom, bottom_low});
    // (arctan z - z) / z^3: minimax, error 2^-64.
    constexpr double c[] = {-0x1.5555555555555p-2, 0x1.9999999999997p-3,  -0x1.24924924920adp-3,
                            0x1.c71c71c6ddb9cp-4,  -0x1.745d173563ab2p-4, 0x1.3b13aea9b6b8dp-4,
                            -0x1.1110cee3bf64ep-4, 0x1.e1d8e942d6a22p-5,  -0x1.aebd1ae878fa4p-5,
                            0x1.829cc4e1e78d4p-5,  -0x1.503bca231ad2dp-5, 0x1.f5ed3e270c8a6p-6,
                            -0x1.c80e16e6bcb9dp-7};
    R square = z.high * z.high;
    R rest = fma(z.high * square, polynomial(square, c), z.low);
    R eighths = select(is_low, zero, select(is_high, R(0.5), R(0.25)));
    eighths = select(is_left, R(1.0) - eighths, eighths);
    R first = select(is_left, -z.high, z.high);
    rest = select(is_left, -rest, rest);
    auto total = quick_sum(eighths * R(pi_high), first);
    return total.high + (total.low + fma(eighths, R(pi_low), rest));
}

template <bool Narrow, class R>
R atan(R x) {
    R size = magnitude(x);
    R bounded = select(size < R(0x1p70), size, R(0x1p70));
    R r = angle_of<Narrow>(bounded, R(1.0), bounded < R(0.0));
    return select(x == x, with_sign(r, x), x);
}

template <bool Narrow, class R>
R atan2(R y, R x) {
    R a = magnitude(y), b = magnitude(x);
    auto is_left = with_sign(R(1.0), x) < R(0.0);
    // Of infinite operands only which of them are counts.
    auto is_endless = (a == R(infinite)) | (b == R(infinite));
    a = select(is_endless, select(a == R(infinite), R(1.0), R(0.0)), a);
    b = select(is_endless, select(b == R(infinite), R(1.0), R(0.0)), b);
    R most = select(a < b, b, a);
    R factor =
        select(most > R(0x1p1000), R(0x1p-100), select(most < R(0x1p-900), R(0x1p120), R(1.0)));
    b = select(most == R(0.0), R(1.0), b * factor);
    R r = angle_of<Narrow>(a * factor, b, is_left);
    return select((x == x) & (y == y), with_sign(r, y), x + y);
}

/// (arcsin s - s) / s^3 for s^2 = w <= 1/4: minimax, error 2^-59.
template <bool Narrow, class R>
R arc_tail(R w) {
    if constexpr (Narrow) {
        constexpr double c[] = {0x1.555555555ba9ep-3, 0x1.333333133277ep-4,  0x1.6db6f5e9d0b98p-5,
                                0x1.f1beb9c867b18p-6, 0x1.6f347e4a44c5dp-6,  0x1.14eefea06d8d9p-6,
                                0x1.144d1f0d0554dp-6, 0x1.17d722d86d4bep-10, 0x1.d06eddee004bep-6};
        return polynomial(w, c);
    }
    constexpr double c[] = {0x1.5555555555555p-3,  0x1.333333333338bp-4, 0x1.6db6db6dabd04p-5,
                            0x1.f1c71c7a8c0eap-6,  0x1.6e8ba118f5fd7p-6, 0x1.1c4efe1e69660p-6,
                            0x1.c9907f8c561b2p-7,  0x1.7b04b32731ab0p-7, 0x1.3b374c6a2c89fp-7,
                            0x1.31cd3bf734fa0p-7,  0x1.8899fb37b6777p-9, 0x1.42690e2347252p-6,
                            -0x1.3e33ab81c9ef2p-6, 0x1.e70d4739cfcdbp-6};
    return polynomial(w, c);
}

/// arcsin of min(|x|, sqrt((1 - |x|) / 2)) as a pair: the latter where |x| > 1/2.
template <bool Narrow, class R>
Pair<R> small_arc(R size) {
    auto is_large = size > R(0.5);
    R w = select(is_large, (R(1.0) - size) * R(0.5), size * size);  // exact where large
    R root = square_root(w);
    R s = select(is_large, root, size);
    R low(0.0);
    if constexpr (!Narrow) low = select(is_large, rest_of_root(root, w, low), low);
    return {s, fma(s * w, arc_tail<Narrow>(w), low)};
}

template <bool Narrow, class R>
R asin(R x) {
    R size = magnitude(x);
    auto s = small_arc<Narrow>(size);
    auto total = quick_sum(R(pi_high * 0.5), -(s.high + s.high));
    R large = total.high + (total.low + (R(pi_low * 0.5) - (s.low + s.low)));
    return with_sign(select(size > R(0.5), large, s.high + s.low), x);
}

template <bool Narrow, class R>
R acos(R x) {
    R size = magnitude(x);
    auto s = small_arc<Narrow>(size);
    auto is_large = size > R(0.5);
    // pi / 2 - arcsin x, 2 s, or pi - 2 s.
    auto is_right = is_large & (x > R(0.0));
    R scale = select(is_large, R(2.0), R(1.0));
    R part = s.high * scale, low = s.low * scale;
    R base = select(is_large, select(is_right, R(0.0), R(1.0)), R(0.5));
    auto adds = is_right | ((!is_large) & (x < R(0.0)));
    auto total = quick_sum(base * R(pi_high), select(adds, part, -part));
    return total.high + (total.low + fma(base, R(pi_low), select(adds, low, -low)));
}

/// log(1 + u) for u >= 0 where the result is rounded to float32.
template <class R>
R log_of_one_more_narrow(R u) {
    auto sum = exact_sum(R(1.0), u);
    return log_of_sum<true>(sum.high, sum.low);
}

/// log(1 + u) for u >= 0; beyond 2^28, where `is_large`, log(2 * size).
template <bool Narrow, class R, class Flag>
R log_of_one_more(Pair<R> u, Flag is_large, R size) {
    auto sum = exact_sum(R(1.0), u.high);
    auto part =
        split<Narrow>(select(is_large, size, sum.high), select(is_large, R(0.0), sum.low + u.low));
    part.exponent = part.exponent + select(is_large, R(1.0), R(0.0));
    return log_of_parts<Narrow>(part.exponent, part.mantissa, part.rest);
}

template <bool Narrow, class R>
R asinh(R x) {
    // log(1 + u), u = |x| + x^2 / (1 + sqrt(1 + x^2)).
    R size = magnitude(x);
    if constexpr (Narrow) {
        R square = size * size;
        R r = log_of_one_more_narrow(size + square / (square_root(square + R(1.0)) + R(1.0)));
        return with_sign(select(size < R(infinite), r, size), x);
    }
    auto is_large = size > R(0x1p28);
    R bounded = select(is_large, R(1.0), size);
    auto square = exact_product(bounded, bounded);
    auto sum = exact_sum(R(1.0), square.high);
    R low = sum.low + square.low;
    R root = square_root(sum.high);
    auto divisor = quick_sum(root, R(1.0));
    auto part =
        quotient(square, Pair<R>{divisor.high, divisor.low + rest_of_root(root, sum.high, low)});
    auto u = exact_sum(bounded, part.high);
    R r = log_of_one_more<Narrow>(Pair<R>{u.high, u.low + part.low}, is_large, size);
    // From there on x^3 / 6 does not count.
    r = select(size > R(0x1p-28), r, size);
    return with_sign(select(size < R(infinite), r, size), x);
}

template <bool Narrow, class R>
R acosh(R x) {
    // log(1 + u), u = x - 1 + sqrt(x^2 - 1).
    if constexpr (Narrow) {
        R less = x - R(1.0);
        R r = log_of_one_more_narrow(less + square_root(less * (x + R(1.0))));
        r = select(x < R(infinite), r, x);
        return select(x >= R(1.0), r, R(not_a_number));
    }
    auto is_large = x > R(0x1p28);
    R bounded = select(is_large, R(1.0), x);
    auto less = exact_sum(bounded, R(-1.0));
    auto square = exact_product(bounded, bounded);
    auto under = exact_sum(square.high, R(-1.0));
    R under_low = under.low + square.low;
    R root = square_root(under.high);
    auto u = exact_sum(root, less.high);
    R low = u.low + (less.low + rest_of_root(root, under.high, under_low));
    R r = log_of_one_more<Narrow>(Pair<R>{u.high, low}, is_large, x);
    r = select(x < R(infinite), r, x);
    return select(x >= R(1.0), r, R(not_a_number));
}

template <bool Narrow, class R>
R atanh(R x) {
    // log(1 + u) / 2, u = 2 |x| / (1 - |x|).
    R size = magnitude(x);
    auto is_inside = size < R(1.0);
    R bounded = select(is_inside, size, R(0.5));
    R outside = select(size == R(1.0), R(infinite), R(not_a_number));
    if constexpr (Narrow) {
        R r = log_of_one_more_narrow((bounded + bounded) / (R(1.0) - bounded)) * R(0.5);
        return with_sign(select(is_inside, r, outside), x);
    }
    auto u = quotient(Pair<R>{bounded + bounded, R(0.0)}, quick_sum(R(1.0), -bounded));
    R r = log_of_one_more<false>(u, bounded < R(0.0), bounded) * R(0.5);
    r = select(size > R(0x1p-28), r, size);
    return with_sign(select(is_inside, r, outside), x);
}

}  // namespace unisono::functions
