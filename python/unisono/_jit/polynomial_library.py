"""Functions of numpy.polynomial.polynomial that compiled code calls: coefficients from the lowest power on."""

from __future__ import annotations

import numpy as np

from . import jit


@jit
def trimseq(seq):
    n = len(seq)
    while n > 1 and seq[n - 1] == 0:
        n -= 1
    return seq[:n]


@jit
def _coefficients(c):
    made = np.asarray(c) * 1.0
    if len(made) == 0:
        raise ValueError("Coefficient array is empty")
    return trimseq(made)


@jit
def _sum(a, b, sign):
    c1 = _coefficients(a)
    c2 = _coefficients(b)
    made = np.zeros(max(len(c1), len(c2)), (c1[:1] + c2[:1]).dtype)
    made[: len(c1)] += c1
    made[: len(c2)] += sign * c2
    return trimseq(made)


@jit
def polyadd(c1, c2):
    return _sum(c1, c2, 1.0)


@jit
def polysub(c1, c2):
    return _sum(c1, c2, -1.0)


@jit
def polymul(c1, c2):
    return trimseq(np.convolve(_coefficients(c1), _coefficients(c2)))


@jit
def polydiv(c1, c2):
    rest = _coefficients(c1).copy()
    by = _coefficients(c2)
    last = by[-1]
    if last == 0:
        raise ZeroDivisionError("polynomial division by zero")
    n = len(by)
    if len(rest) < n:
        return rest[:1] * 0, rest
    if n == 1:
        return rest / last, rest[:1] * 0
    steps = len(rest) - n
    low = by[:-1] / last
    for i in range(steps, -1, -1):
        rest[i : i + n - 1] -= low * rest[i + n - 1]
    return rest[n - 1 :] / last, trimseq(rest[: n - 1])


@jit
def polyval(x, c, tensor=True):
    a = np.asarray(c)
    made = a[-1] + x * 0
    for i in range(2, len(a) + 1):
        made = a[len(a) - i] + made * x
    return made


@jit
def polyder(c, m=1):
    made = np.asarray(c) * 1.0
    if m < 0:
        raise ValueError("The order of derivation must be non-negative")
    if m >= len(made):
        return made[:1] * 0
    for _ in range(m):
        made = made[1:] * np.arange(1, len(made))
    return made


@jit
def polyint(c, m=1):
    made = np.asarray(c) * 1.0
    if m < 0:
        raise ValueError("The order of integration must be non-negative")
    for _ in range(m):
        if len(made) > 1 or made[0] != 0:
            longer = np.zeros(len(made) + 1, made.dtype)
            longer[1:] = made / np.arange(1, len(made) + 1)
            made = longer
    return made


implementations = {
    f.__name__: f for f in (polyadd, polyder, polydiv, polyint, polymul, polysub, polyval)
}
of_utilities = {"trimseq": trimseq}
