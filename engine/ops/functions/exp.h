// exp and its kin: x = n ln 2 + r, |r| <= ln 2 / 2, a polynomial in r, scaled by 2^n.
#pragma once

#include "ops/functions/log.h"

namespace unisono::functions {

/// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2: minimax, error below 2^-59, narrow 2^-28.
template <bool Narrow, class R>
R exp_tail(R r) {
    if constexpr (Narrow) {
        constexpr double c[] = {0x1.00000042f2335p-1, 0x1.55555598141a0p-3,  0x1.5554804b0976fp-5,
                                0x1.11107ce95759ep-7, 0x1.6d968d8890ebdp-10, 0x1.a1b7fc900b412p-13};
        return polynomial(r, c);
    } else {
        constexpr double c[] = {0x1.0000000000000p-1,  0x1.5555555555557p-3,  0x1.5555555555558p-5,
                                0x1.11111111100dbp-7,  0x1.6c16c16c151fcp-10, 0x1.a01a01abe84bap-13,
                                0x1.a01a01acfacc0p-16, 0x1.71de0230beb99p-19, 0x1.27e4cccdeb2f7p-22,
                                0x1.af4deb0af45a9p-26, 0x1.1f8b4c6b3c913p-29};
        return polynomial(r, c);
    }
}

/// e^x for results that are rounded to float32, which is zero or infinite where the bounds count.
template <class R>
R exp_narrow(R x) {
    x = select(x > R(100.0), R(100.0), x);
    x = select(x < R(-120.0), R(-120.0), x);
    auto n = nearest(x, R(log2_e));
    R r = fma(n.number, R(-ln2_low), fma(n.number, R(-ln2_high), x));
    R sum = R(1.0) + fma(r * r, exp_tail<true>(r), r);
    return sum * power_of_two<R>(n.whole);
}

/// y 2^n for |y| < 2, rounded once: -1100 < n < 500 where `is_below`, else 0 <= n < 1030 and y is
/// not small.
template <class R, class Flag>
R scaled_exponential(R y, Whole<R> n, Flag is_below) {
    using W = Whole<R>;
    // Two factors, the second a constant that keeps the first from leaving the range.
    W bias = select(is_below, W(std::int64_t{1023 + 512} << 52), W(std::int64_t{1023 - 16} << 52));
    R first = number_of(plus(shift_left(n, 52), bias));
    return y * first * select(is_below, R(0x1p-512), R(0x1p16));
}

/// e^x. Error: the last addition's half ulp, and a quarter where the sum r + ... was rounded.
template <bool Narrow, class R>
R exp(R x) {
    if constexpr (Narrow) return exp_narrow(x);
    // Beyond these bounds the result is infinite or zero, as it is at them. NaN passes.
    x = select(x > R(710.0), R(710.0), x);
    x = select(x < R(-746.0), R(-746.0), x);
    auto n = nearest(x, R(log2_e));
    R r = fma(n.number, R(-ln2_high), x);  // exact
    R low = n.number * R(ln2_low);
    R small = r - low;
    R sum = R(1.0) + (r + fma(small * small, exp_tail<false>(small), -low));
    return scaled_exponential(sum, n.whole, x < R(0.0));
}

/// 2^x.
template <bool Narrow, class R>
R exp2(R x) {
    if constexpr (Narrow) {
        x = select(x > R(150.0), R(150.0), x);
        x = select(x < R(-180.0), R(-180.0), x);
    } else {
        x = select(x > R(1030.0), R(1030.0), x);
        x = select(x < R(-1080.0), R(-1080.0), x);
    }
    auto n = nearest(x, R(1.0));
    R f = x - n.number;
    if constexpr (Narrow) {
        R r = f * R(ln2_high);
        R sum = R(1.0) + fma(r * r, exp_tail<true>(r), r);
        return sum * power_of_two<R>(n.whole);
    }
    auto r = exact_product(f, R(ln2_high));
    R low = fma(f, R(ln2_low), r.low);
    R small = r.high + low;
    R sum = R(1.0) + (r.high + fma(small * small, exp_tail<false>(small), low));
    return scaled_exponential(sum, n.whole, x < R(0.0));
}

/// e^x - 1 where the result is rounded to float32: relative error below 2^-36.
template <class R>
R growth_narrow(R x) {
    x = select(x > R(200.0), R(200.0), x);
    x = select(x < R(-60.0), R(-60.0), x);
    auto n = nearest(x, R(log2_e));
    R r = fma(n.number, R(-ln2_low), fma(n.number, R(-ln2_high), x));
    constexpr double c[] = {0x1.0000000000000p-1, 0x1.5555556752826p-3,  0x1.5555555c86d13p-5,
                            0x1.1110c63476727p-7, 0x1.6c16858cf08f7p-10, 0x1.a151760b496bbp-13,
                            0x1.a1131d0be06e8p-16};
    R scale = power_of_two<R>(n.whole);
    return fma(scale, fma(r * r, polynomial(r, c), r), scale - R(1.0));
}

/// e^x - 1 as 2^n (high + low), for -60 <= x <= 710.
template <class R>
struct Growth {
    Pair<R> value;
    Whole<R> n;
};
template <class R>
Growth<R> growth(R x) {
    using W = Whole<R>;
    auto n = nearest(x, R(log2_e));
    R r = fma(n.number, R(-ln2_high), x);
    R low = n.number * R(ln2_low);
    R small = r - low;
    // 2^n (1 - 2^-n + e^r - 1); beyond 2^60 the -1 does not count.
    R bounded = select(n.number < R(60.0), n.number, R(60.0));
    R lacks = number_of(shift_left(minus(W(1023), bits_of(bounded + R(rounder))), 52));
    auto top = quick_sum(R(1.0), -lacks);
    auto sum = quick_sum(top.high, r);
    // What small and its square lack counts where the sum cancels.
    R square = small * small;
    R error = fma((r - small) - low, small, fma(small, small, -square) * R(0.5));
    R rest = sum.low + (top.low + (fma(square, exp_tail<false>(small), -low) + error));
    return {quick_sum(sum.high, rest), n.whole};
}

/// x within the range of growth.
template <class R>
R bounded_exponent(R x) {
    x = select(x > R(712.0), R(712.0), x);
    return select(x < R(-60.0), R(-60.0), x);
}

template <bool Narrow, class R>
R expm1(R x) {
    if constexpr (Narrow) return select(x == R(0.0), x, growth_narrow(x));
    auto g = growth(bounded_exponent(x));
    R sum = g.value.high + g.value.low;
    return select(x == R(0.0), x, scaled_exponential(sum, g.n, x < R(1.0)));
}

/// e^|x| - 1 as a pair, for |x| up to 40 (beyond, that of 40).
template <class R>
Pair<R> growth_of_size(R size) {
    auto g = growth(select(size > R(40.0), R(40.0), size));
    R scale = power_of_two<R>(g.n);
    return {g.value.high * scale, g.value.low * scale};
}

template <bool Narrow, class R>
R tanh(R x) {
    // (e^2x - 1) / (e^2x + 1); 1 from 20 on.
    if constexpr (Narrow) {
        R g = growth_narrow(magnitude(x) + magnitude(x));
        return with_sign(g / (g + R(2.0)), x);
    }
    auto e = growth_of_size(magnitude(x) + magnitude(x));
    auto sum =
        quick_sum(select(e.high > R(2.0), e.high, R(2.0)), select(e.high > R(2.0), R(2.0), e.high));
    auto q = quotient(e, Pair<R>{sum.high, sum.low + e.low});
    return with_sign(q.high + q.low, x);
}

/// e^|x| - 1 as a pair for |x| <= 40, and e^|x| / 2 for larger ones.
template <class R>
struct GrowthOfSize {
    Pair<R> small;
    R large;
};
template <class R>
GrowthOfSize<R> growth_and_half(R size) {
    auto g = growth(bounded_exponent(size));  // the -1 does not count in `large`
    R scale = power_of_two<R>(g.n);
    R reduced = power_of_two<R>(minus(g.n, Whole<R>(9)));  // does not overflow before the result
    return {{g.value.high * scale, g.value.low * scale},
            (g.value.high + g.value.low) * reduced * R(256.0)};
}

template <bool Narrow, class R>
R sinh(R x) {
    // (p + p / (p + 1)) / 2 with p = e^|x| - 1; beyond 40 half of e^|x|, which p is.
    R size = magnitude(x);
    if constexpr (Narrow) {
        R g = growth_narrow(size);
        return with_sign((g + g / (g + R(1.0))) * R(0.5), x);
    }
    auto g = growth_and_half(size);
    auto p = g.small;
    auto one_more = exact_sum(p.high, R(1.0));
    auto q = quotient(p, Pair<R>{one_more.high, one_more.low + p.low});
    auto sum = quick_sum(p.high, q.high);
    R small = (sum.high + (sum.low + (p.low + q.low))) * R(0.5);
    return with_sign(select(size > R(40.0), g.large, small), x);
}

template <bool Narrow, class R>
R cosh(R x) {
    // (e + 1 / e) / 2 with e = e^|x|.
    R size = magnitude(x);
    if constexpr (Narrow) {
        R e = exp_narrow(size);
        return (e + R(1.0) / e) * R(0.5);
    }
    auto g = growth_and_half(size);
    auto p = g.small;
    auto e = exact_sum(p.high, R(1.0));
    auto whole = quick_sum(e.high, e.low + p.low);
    auto q = quotient(Pair<R>{R(1.0), R(0.0)}, whole);
    auto sum = quick_sum(whole.high, q.high);
    R small = (sum.high + (sum.low + (whole.low + q.low))) * R(0.5);
    return select(size > R(40.0), g.large, small);
}

}  // namespace unisono::functions
