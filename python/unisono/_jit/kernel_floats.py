"""Functions of floats that the table of operations lacks, of arithmetic alone: kernels call them on every device.

What has no value is nan or infinite, as in C. `erf` and `erfc` by the formulas of Sun's fdlibm (s_erf.c), `gamma` and
`lgamma` by Lanczos' with CPython's coefficients, `_quantile` by Wichura (1988), "Algorithm AS241".

Of fdlibm: Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved. Developed at SunPro, a Sun Microsystems, Inc.
business. Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is
preserved.
"""

from __future__ import annotations

import math

import numpy as np

from ..cuda import warps
from . import jit

fma = warps.fma  # by way of the package, which is imported before its parts
_ROOT_HALF = 0.7071067811865476
_ROOT_HALF_REST = -4.833646656726457e-17


@jit
def _polynomial(x, leading, *others):
    """That of the coefficients at x, those of higher powers first."""
    made = leading
    for c in others:
        made = made * x + c
    return made


@jit
def _tail(v):
    """log(erfc(v) * v) + v * v + 0.5625 for v of 1.25 and more."""
    s = 1.0 / (v * v)
    if v < 1.0 / 0.35:
        top = _polynomial(
            s,
            -9.814329344169145, -81.2874355063066, -184.60509290671104, -162.39666946257347,
            -62.375332450326006, -10.558626225323291, -0.6938585727071818, -0.009864944034847148,
        )  # fmt: skip
        bottom = _polynomial(
            s,
            -0.0604244152148581, 6.570249770319282, 108.63500554177944, 429.00814002756783,
            645.3872717332679, 434.56587747522923, 137.65775414351904, 19.651271667439257, 1.0,
        )  # fmt: skip
    else:
        top = _polynomial(
            s,
            -483.5191916086514, -1025.0951316110772, -637.5664433683896, -160.63638485582192,
            -17.757954917754752, -0.799283237680523, -0.0098649429247001,
        )  # fmt: skip
        bottom = _polynomial(
            s,
            -22.44095244658582, 474.52854120695537, 2553.0504064331644, 3199.8582195085955,
            1536.729586084437, 325.7925129965739, 30.33806074348246, 1.0,
        )  # fmt: skip
    return top / bottom


@jit
def _far(v):
    """erfc(v) for v of 1.25 and more."""
    short = np.floor(v * 1048576.0) / 1048576.0  # the square of the leading bits is exact
    rest = (short - v) * (short + v) + _tail(v)
    return math.exp(-short * short - 0.5625) * math.exp(rest) / v


@jit
def _small(x):
    """erf(x) / x - 1 where x is at most 0.84375 in size."""
    s = x * x
    top = _polynomial(
        s,
        -2.3763016656650163e-05, -0.005770270296489442, -0.02848174957559851, -0.3250421072470015,
        0.12837916709551256,
    )  # fmt: skip
    bottom = _polynomial(
        s,
        -3.960228278775368e-06, 0.00013249473800432164, 0.005081306281875766, 0.0650222499887673,
        0.39791722395915535, 1.0,
    )  # fmt: skip
    return top / bottom


@jit
def _middle(v):
    """erf(v) - 0.845062911510467529297 between 0.84375 and 1.25."""
    s = v - 1.0
    top = _polynomial(
        s,
        -0.002166375594868791, 0.035478304325618236, -0.11089469428239668, 0.31834661990116175,
        -0.3722078760357013, 0.41485611868374833, -0.0023621185607526594,
    )  # fmt: skip
    bottom = _polynomial(
        s,
        0.011984499846799107, 0.01363708391202905, 0.12617121980876164, 0.07182865441419627,
        0.540397917702171, 0.10642088040084423, 1.0,
    )  # fmt: skip
    return top / bottom


@jit
def erf(x):
    v = abs(float(x))
    if not v < math.inf:
        return float(x) if v != v else math.copysign(1.0, float(x))
    if v < 0.84375:
        return float(x) + float(x) * _small(v)
    if v < 1.25:
        return math.copysign(0.845062911510467529297 + _middle(v), float(x))
    if v >= 6.0:
        return math.copysign(1.0, float(x))
    return math.copysign(1.0 - _far(v), float(x))


@jit
def erfc(x):
    w = float(x)
    v = abs(w)
    if not v < math.inf:
        return w if v != v else 1.0 - math.copysign(1.0, w)
    if v < 0.84375:
        y = _small(v)
        if w < 0.25:
            return 1.0 - (w + w * y)
        return 0.5 - (w - 0.5 + w * y)
    if v < 1.25:
        y = _middle(v)
        return 1.0 - 0.845062911510467529297 - y if w > 0.0 else 1.0 + (0.845062911510467529297 + y)
    if v < 28.0:
        y = _far(v)
        return y if w > 0.0 else 2.0 - y
    return 0.0 if w > 0.0 else 2.0


@jit
def erfcx(x):
    """exp(x * x) * erfc(x)."""
    v = float(x)
    if v >= 1.25:
        return math.exp(_tail(v) - 0.5625) / v
    if v < -26.62873571375149:  # twice exp(v * v) is beyond the largest number
        return math.inf
    square = v * v
    return math.exp(square) * (1.0 + fma(v, v, -square)) * erfc(v)


@jit
def _quantile(q, r):
    """That of the normal distribution at 0.5 + q; r is the smaller of q + 0.5 and 0.5 - q."""
    if abs(q) <= 0.425:
        s = 0.180625 - q * q
        top = _polynomial(
            s,
            2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987,
            13731.69376550946, 1971.5909503065513, 133.14166789178438, 3.3871328727963665,
        )  # fmt: skip
        bottom = _polynomial(
            s,
            5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597,
            5394.196021424751, 687.1870074920579, 42.31333070160091, 1.0,
        )  # fmt: skip
        return q * top / bottom
    if not r > 0.0:
        return math.copysign(math.inf, q) if r == 0.0 else math.nan
    s = math.sqrt(-math.log(r))
    if s <= 5.0:
        s -= 1.6
        top = _polynomial(
            s,
            0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684,
            3.6478483247632045, 5.769497221460691, 4.630337846156546, 1.4234371107496835,
        )  # fmt: skip
        bottom = _polynomial(
            s,
            1.0507500716444169e-09, 0.0005475938084995345, 0.015198666563616457,
            0.14810397642748008, 0.6897673349851, 1.6763848301838038, 2.053191626637759, 1.0,
        )  # fmt: skip
    else:
        s -= 5.0
        top = _polynomial(
            s,
            2.0103343992922881e-07, 2.7115555687434876e-05, 0.0012426609473880784,
            0.026532189526576124, 0.29656057182850487, 1.7848265399172913, 5.463784911164114,
            6.657904643501103,
        )  # fmt: skip
        bottom = _polynomial(
            s,
            2.0442631033899397e-15, 1.421511758316446e-07, 1.8463183175100548e-05,
            0.0007868691311456133, 0.014875361290850615, 0.1369298809227358, 0.599832206555888, 1.0,
        )  # fmt: skip
    return math.copysign(top / bottom, q)


@jit
def normcdf(x):
    v = -float(x)
    scaled = v * _ROOT_HALF
    made = 0.5 * erfc(scaled)
    if not 1.0 < scaled < 30.0:
        return made
    # What the product rounds off, to first order.
    return made - made * 2.0 * scaled * (fma(v, _ROOT_HALF, -scaled) + v * _ROOT_HALF_REST)


@jit
def normcdfinv(p):
    v = float(p)
    return _quantile(v - 0.5, v if v < 0.5 else 1.0 - v)


@jit
def erfinv(x):
    v = float(x)
    return _quantile(0.5 * v, 0.5 * (1.0 - abs(v))) * _ROOT_HALF


@jit
def erfcinv(x):
    v = float(x)
    return _quantile(0.5 * (1.0 - v), 0.5 * (v if v < 1.0 else 2.0 - v)) * _ROOT_HALF


@jit
def _lanczos(x):
    if x < 5.0:
        top = _polynomial(
            x,
            2.5066282746310002, 210.82427775157936, 8071.672002365816, 186056.26539522348,
            2876370.6289353725, 31426415.585400194, 248874557.86205417, 1439720407.3117216,
            6039542586.352028, 17921034426.03721, 35711959237.35567, 42919803642.6491,
            23531376880.41076,
        )  # fmt: skip
        bottom = _polynomial(
            x,
            1.0, 66.0, 1925.0, 32670.0, 357423.0, 2637558.0, 13339535.0, 45995730.0, 105258076.0,
            150917976.0, 120543840.0, 39916800.0, 0.0,
        )  # fmt: skip
    else:
        s = 1.0 / x
        top = _polynomial(
            s,
            23531376880.41076, 42919803642.6491, 35711959237.35567, 17921034426.03721,
            6039542586.352028, 1439720407.3117216, 248874557.86205417, 31426415.585400194,
            2876370.6289353725, 186056.26539522348, 8071.672002365816, 210.82427775157936,
            2.5066282746310002,
        )  # fmt: skip
        bottom = _polynomial(
            s,
            0.0, 39916800.0, 120543840.0, 150917976.0, 105258076.0, 45995730.0, 13339535.0,
            2637558.0, 357423.0, 32670.0, 1925.0, 66.0, 1.0,
        )  # fmt: skip
    return top / bottom


@jit
def _sine_of_pi(x):
    """sin(pi * x)."""
    y = abs(x) - 2.0 * np.floor(abs(x) * 0.5)
    n = np.floor(2.0 * y + 0.5)
    if n == 0.0:
        made = math.sin(math.pi * y)
    elif n == 1.0:
        made = math.cos(math.pi * (y - 0.5))
    elif n == 2.0:
        made = math.sin(math.pi * (1.0 - y))
    elif n == 3.0:
        made = -math.cos(math.pi * (y - 1.5))
    else:
        made = math.sin(math.pi * (y - 2.0))
    return math.copysign(1.0, x) * made


@jit
def gamma(x):
    v = float(x)
    if v != v or v == math.inf:
        return v
    if v == np.floor(v):
        if v == 0.0:
            return math.copysign(math.inf, v)
        if v < 0.0:
            return math.nan
        if v <= 23.0:
            product = 1.0
            for k in range(2, int(v)):
                product *= k
            return product
    size = abs(v)
    if size < 1e-20:
        return 1.0 / v
    if size > 200.0:
        return math.inf if v > 0.0 else 0.0 / _sine_of_pi(v)
    y = size + 5.524680040776729583740234375
    # What the sum below rounds off.
    if size > 5.524680040776729583740234375:
        rest = y - size - 5.524680040776729583740234375
    else:
        rest = y - 5.524680040776729583740234375 - size
    rest = rest * 6.024680040776729583740234375 / y
    if v < 0.0:
        made = -math.pi / _sine_of_pi(size) / size * math.exp(y) / _lanczos(size)
        made -= rest * made
        if size < 140.0:
            return made / math.pow(y, size - 0.5)
        power = math.pow(y, size / 2.0 - 0.25)
        return made / power / power
    made = _lanczos(size) / math.exp(y)
    made += rest * made
    if size < 140.0:
        return made * math.pow(y, size - 0.5)
    power = math.pow(y, size / 2.0 - 0.25)
    return made * power * power


@jit
def lgamma(x):
    v = float(x)
    if v != v:
        return v
    size = abs(v)
    if size == math.inf or (v == np.floor(v) and v <= 2.0):
        return 0.0 if v == 1.0 or v == 2.0 else math.inf
    if size < 1e-20:
        return -math.log(size)
    made = math.log(_lanczos(size)) - 6.024680040776729583740234375
    made += (size - 0.5) * (math.log(size + 6.024680040776729583740234375 - 0.5) - 1.0)
    if v < 0.0:
        made = math.log(math.pi / abs(_sine_of_pi(size)) / size) - made
    return made


@jit
def remainder(x, y):
    a = float(x)
    b = abs(float(y))
    if not abs(a) < math.inf or b == 0.0 or b != b:
        return math.nan
    if b == math.inf:
        return a
    rest = math.fmod(abs(a), b)
    other = b - rest
    if rest > other:
        made = -other
    elif rest < other:
        made = rest
    else:  # halfway: to the even multiple
        made = rest - 2.0 * math.fmod(0.5 * (abs(a) - rest), b)
    return math.copysign(1.0, a) * made


of_cuda = {
    "erf": erf, "erfc": erfc, "erfcx": erfcx, "erfinv": erfinv, "erfcinv": erfcinv, "normcdf": normcdf,
    "normcdfinv": normcdfinv, "tgamma": gamma, "lgamma": lgamma, "remainder": remainder,
}  # fmt: skip
