"""Functions of floats that the table of operations lacks, of arithmetic alone: kernels call them on every device.

What has no value is nan or infinite, as in C. `erf` and `erfc` by the formulas of Sun's fdlibm (s_erf.c), `gamma` and
`lgamma` by Lanczos' with CPython's coefficients, `_quantile` by Wichura (1988), "Algorithm AS241". Polynomials are written out:
a loop over coefficients would need memory.
"""

from __future__ import annotations

import math

import numpy as np

from ..cuda.warps import fma
from . import jit

_ROOT_HALF = 0.7071067811865476
_ROOT_HALF_REST = -4.833646656726457e-17


@jit
def _tail(v):
    """log(erfc(v) * v) + v * v + 0.5625 for v of 1.25 and more."""
    s = 1.0 / (v * v)
    if v < 1.0 / 0.35:
        top = -0.009864944034847148 + s * (
            -0.6938585727071818
            + s
            * (
                -10.558626225323291
                + s
                * (
                    -62.375332450326006
                    + s
                    * (
                        -162.39666946257347
                        + s
                        * (-184.60509290671104 + s * (-81.2874355063066 + s * (-9.814329344169145)))
                    )
                )
            )
        )
        bottom = 1.0 + s * (
            19.651271667439257
            + s
            * (
                137.65775414351904
                + s
                * (
                    434.56587747522923
                    + s
                    * (
                        645.3872717332679
                        + s
                        * (
                            429.00814002756783
                            + s
                            * (
                                108.63500554177944
                                + s * (6.570249770319282 + s * (-0.0604244152148581))
                            )
                        )
                    )
                )
            )
        )
    else:
        top = -0.0098649429247001 + s * (
            -0.799283237680523
            + s
            * (
                -17.757954917754752
                + s
                * (
                    -160.63638485582192
                    + s
                    * (-637.5664433683896 + s * (-1025.0951316110772 + s * (-483.5191916086514)))
                )
            )
        )
        bottom = 1.0 + s * (
            30.33806074348246
            + s
            * (
                325.7925129965739
                + s
                * (
                    1536.729586084437
                    + s
                    * (
                        3199.8582195085955
                        + s
                        * (2553.0504064331644 + s * (474.52854120695537 + s * (-22.44095244658582)))
                    )
                )
            )
        )
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
    top = 0.12837916709551256 + s * (
        -0.3250421072470015
        + s * (-0.02848174957559851 + s * (-0.005770270296489442 + s * (-2.3763016656650163e-05)))
    )
    bottom = 1.0 + s * (
        0.39791722395915535
        + s
        * (
            0.0650222499887673
            + s
            * (0.005081306281875766 + s * (0.00013249473800432164 + s * (-3.960228278775368e-06)))
        )
    )
    return top / bottom


@jit
def _middle(v):
    """erf(v) - 0.845062911510467529297 between 0.84375 and 1.25."""
    s = v - 1.0
    top = -0.0023621185607526594 + s * (
        0.41485611868374833
        + s
        * (
            -0.3722078760357013
            + s
            * (
                0.31834661990116175
                + s
                * (-0.11089469428239668 + s * (0.035478304325618236 + s * (-0.002166375594868791)))
            )
        )
    )
    bottom = 1.0 + s * (
        0.10642088040084423
        + s
        * (
            0.540397917702171
            + s
            * (
                0.07182865441419627
                + s * (0.12617121980876164 + s * (0.01363708391202905 + s * (0.011984499846799107)))
            )
        )
    )
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
    if v < -27.0:
        return math.inf
    square = v * v
    return math.exp(square) * (1.0 + fma(v, v, -square)) * erfc(v)


@jit
def _quantile(q, r):
    """That of the normal distribution at 0.5 + q; r is the smaller of q + 0.5 and 0.5 - q."""
    if abs(q) <= 0.425:
        s = 0.180625 - q * q
        top = 3.3871328727963665 + s * (
            133.14166789178438
            + s
            * (
                1971.5909503065513
                + s
                * (
                    13731.69376550946
                    + s
                    * (
                        45921.95393154987
                        + s
                        * (67265.7709270087 + s * (33430.57558358813 + s * (2509.0809287301227)))
                    )
                )
            )
        )
        bottom = 1.0 + s * (
            42.31333070160091
            + s
            * (
                687.1870074920579
                + s
                * (
                    5394.196021424751
                    + s
                    * (
                        21213.794301586597
                        + s
                        * (39307.89580009271 + s * (28729.085735721943 + s * (5226.495278852854)))
                    )
                )
            )
        )
        return q * top / bottom
    if not r > 0.0:
        return math.copysign(math.inf, q) if r == 0.0 else math.nan
    s = math.sqrt(-math.log(r))
    if s <= 5.0:
        s -= 1.6
        top = 1.4234371107496835 + s * (
            4.630337846156546
            + s
            * (
                5.769497221460691
                + s
                * (
                    3.6478483247632045
                    + s
                    * (
                        1.2704582524523684
                        + s
                        * (
                            0.2417807251774506
                            + s * (0.022723844989269184 + s * (0.0007745450142783414))
                        )
                    )
                )
            )
        )
        bottom = 1.0 + s * (
            2.053191626637759
            + s
            * (
                1.6763848301838038
                + s
                * (
                    0.6897673349851
                    + s
                    * (
                        0.14810397642748008
                        + s
                        * (
                            0.015198666563616457
                            + s * (0.0005475938084995345 + s * (1.0507500716444169e-09))
                        )
                    )
                )
            )
        )
    else:
        s -= 5.0
        top = 6.657904643501103 + s * (
            5.463784911164114
            + s
            * (
                1.7848265399172913
                + s
                * (
                    0.29656057182850487
                    + s
                    * (
                        0.026532189526576124
                        + s
                        * (
                            0.0012426609473880784
                            + s * (2.7115555687434876e-05 + s * (2.0103343992922881e-07))
                        )
                    )
                )
            )
        )
        bottom = 1.0 + s * (
            0.599832206555888
            + s
            * (
                0.1369298809227358
                + s
                * (
                    0.014875361290850615
                    + s
                    * (
                        0.0007868691311456133
                        + s
                        * (
                            1.8463183175100548e-05
                            + s * (1.421511758316446e-07 + s * (2.0442631033899397e-15))
                        )
                    )
                )
            )
        )
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
        top = 23531376880.41076 + x * (
            42919803642.6491
            + x
            * (
                35711959237.35567
                + x
                * (
                    17921034426.03721
                    + x
                    * (
                        6039542586.352028
                        + x
                        * (
                            1439720407.3117216
                            + x
                            * (
                                248874557.86205417
                                + x
                                * (
                                    31426415.585400194
                                    + x
                                    * (
                                        2876370.6289353725
                                        + x
                                        * (
                                            186056.26539522348
                                            + x
                                            * (
                                                8071.672002365816
                                                + x
                                                * (210.82427775157936 + x * (2.5066282746310002))
                                            )
                                        )
                                    )
                                )
                            )
                        )
                    )
                )
            )
        )
        bottom = 0.0 + x * (
            39916800.0
            + x
            * (
                120543840.0
                + x
                * (
                    150917976.0
                    + x
                    * (
                        105258076.0
                        + x
                        * (
                            45995730.0
                            + x
                            * (
                                13339535.0
                                + x
                                * (
                                    2637558.0
                                    + x
                                    * (
                                        357423.0
                                        + x * (32670.0 + x * (1925.0 + x * (66.0 + x * (1.0))))
                                    )
                                )
                            )
                        )
                    )
                )
            )
        )
    else:
        s = 1.0 / x
        top = 2.5066282746310002 + s * (
            210.82427775157936
            + s
            * (
                8071.672002365816
                + s
                * (
                    186056.26539522348
                    + s
                    * (
                        2876370.6289353725
                        + s
                        * (
                            31426415.585400194
                            + s
                            * (
                                248874557.86205417
                                + s
                                * (
                                    1439720407.3117216
                                    + s
                                    * (
                                        6039542586.352028
                                        + s
                                        * (
                                            17921034426.03721
                                            + s
                                            * (
                                                35711959237.35567
                                                + s * (42919803642.6491 + s * (23531376880.41076))
                                            )
                                        )
                                    )
                                )
                            )
                        )
                    )
                )
            )
        )
        bottom = 1.0 + s * (
            66.0
            + s
            * (
                1925.0
                + s
                * (
                    32670.0
                    + s
                    * (
                        357423.0
                        + s
                        * (
                            2637558.0
                            + s
                            * (
                                13339535.0
                                + s
                                * (
                                    45995730.0
                                    + s
                                    * (
                                        105258076.0
                                        + s
                                        * (
                                            150917976.0
                                            + s * (120543840.0 + s * (39916800.0 + s * (0.0)))
                                        )
                                    )
                                )
                            )
                        )
                    )
                )
            )
        )
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


of_math = {f.__name__: f for f in (erf, erfc, gamma, lgamma, remainder)}
of_cuda = {
    "erf": erf, "erfc": erfc, "erfcx": erfcx, "erfinv": erfinv, "erfcinv": erfcinv, "normcdf": normcdf,
    "normcdfinv": normcdfinv, "tgamma": gamma, "lgamma": lgamma, "remainder": remainder,
}  # fmt: skip
