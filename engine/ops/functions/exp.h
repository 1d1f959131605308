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

}  // namespace unisono::functions
