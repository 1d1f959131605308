// exp and its kin: x = n ln 2 + r, |r| <= ln 2 / 2, a polynomial in r, scaled by 2^n.
#pragma once

#include "ops/functions/number.h"

namespace unisono::functions {

inline constexpr double ln2_high = 0x1.62e42fefa39efp-1;
inline constexpr double ln2_low = 0x1.abc9e3b39803fp-56;
inline constexpr double log2_e = 0x1.71547652b82fep+0;

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

/// e^x. Error: the last addition's half ulp, and a quarter where the sum r + ... was rounded.
template <bool Narrow, class R>
R exp(R x) {
    // Beyond these bounds the result is infinite or zero, as it is at them. NaN passes.
    x = select(x > R(710.0), R(710.0), x);
    x = select(x < R(-746.0), R(-746.0), x);
    auto n = nearest(x, R(log2_e));
    R r = fma(n.number, R(-ln2_high), x);  // exact
    if constexpr (Narrow) {
        r = fma(n.number, R(-ln2_low), r);
        return scaled(R(1.0) + fma(r * r, exp_tail<true>(r), r), n.whole);
    } else {
        R low = n.number * R(ln2_low);
        R small = r - low;
        R sum = R(1.0) + (r + fma(small * small, exp_tail<false>(small), -low));
        return scaled(sum, n.whole);
    }
}

/// 2^x.
template <bool Narrow, class R>
R exp2(R x) {
    x = select(x > R(1030.0), R(1030.0), x);
    x = select(x < R(-1080.0), R(-1080.0), x);
    auto n = nearest(x, R(1.0));
    R f = x - n.number;
    auto r = exact_product(f, R(ln2_high));
    R low = fma(f, R(ln2_low), r.low);
    R small = r.high + low;
    R sum = R(1.0) + (r.high + fma(small * small, exp_tail<Narrow>(small), low));
    return scaled(sum, n.whole);
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
    auto g = growth(bounded_exponent(x));
    return select(x == R(0.0), x, scaled(g.value.high + g.value.low, g.n));
}

/// e^|x| - 1 as a pair, for |x| up to 40 (beyond, that of 40).
template <class R>
Pair<R> growth_of_size(R size) {
    auto g = growth(select(size > R(40.0), R(40.0), size));
    return {scaled(g.value.high, g.n), scaled(g.value.low, g.n)};
}

template <bool Narrow, class R>
R tanh(R x) {
    // (e^2x - 1) / (e^2x + 1); 1 from 20 on.
    auto e = growth_of_size(magnitude(x) + magnitude(x));
    auto sum =
        quick_sum(select(e.high > R(2.0), e.high, R(2.0)), select(e.high > R(2.0), R(2.0), e.high));
    auto q = quotient(e, Pair<R>{sum.high, sum.low + e.low});
    return with_sign(q.high + q.low, x);
}

/// e^x / 2 for x >= 40, which does not overflow before the result does.
template <class R>
R half_exp(R x) {
    auto g = growth(bounded_exponent(x));  // the -1 does not count
    return scaled(g.value.high + g.value.low, minus(g.n, Whole<R>(1)));
}

template <bool Narrow, class R>
R sinh(R x) {
    // (p + p / (p + 1)) / 2 with p = e^|x| - 1; beyond 40 half of e^|x|, which p is.
    R size = magnitude(x);
    auto p = growth_of_size(size);
    auto one_more = exact_sum(p.high, R(1.0));
    auto q = quotient(p, Pair<R>{one_more.high, one_more.low + p.low});
    auto sum = quick_sum(p.high, q.high);
    R small = (sum.high + (sum.low + (p.low + q.low))) * R(0.5);
    R large = half_exp(size);
    return with_sign(select(size > R(40.0), large, small), x);
}

template <bool Narrow, class R>
R cosh(R x) {
    // (e + 1 / e) / 2 with e = e^|x|.
    R size = magnitude(x);
    auto p = growth_of_size(size);
    auto e = exact_sum(p.high, R(1.0));
    auto whole = quick_sum(e.high, e.low + p.low);
    auto q = quotient(Pair<R>{R(1.0), R(0.0)}, whole);
    auto sum = quick_sum(whole.high, q.high);
    R small = (sum.high + (sum.low + (whole.low + q.low))) * R(0.5);
    return select(size > R(40.0), half_exp(size), small);
}

}  // namespace unisono::functions
