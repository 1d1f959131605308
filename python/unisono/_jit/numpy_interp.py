"""np.interp in compiled code, as NumPy finds its intervals."""

from __future__ import annotations

import numpy as np

from . import jit
from .numpy_elements import these_arguments


@jit
def _interval(x, xp, guess):
    """NumPy's search, which begins near the last hit: what it finds in xp that does not rise, too."""
    n = len(xp)
    if x > xp[n - 1]:
        return n
    if x < xp[0]:
        return -1
    if n <= 4:
        i = 1
        while i < n and x >= xp[i]:
            i += 1
        return i - 1
    guess = max(min(guess, n - 3), 1)
    low = 0
    high = n
    if x < xp[guess]:
        if not x < xp[guess - 1]:
            return guess - 1
        high = guess - 1
        if guess > 8 and x >= xp[guess - 8]:
            low = guess - 8
    else:
        if x < xp[guess + 1]:
            return guess
        if x < xp[guess + 2]:
            return guess + 1
        low = guess + 2
        if guess < n - 9 and x < xp[guess + 8]:
            high = guess + 8
    while low < high:
        middle = low + (high - low) // 2
        if x >= xp[middle]:
            low = middle + 1
        else:
            high = middle
    return low - 1


@jit
def _between(x, xp, fp, j):
    n = len(xp)
    if j < 0:
        return fp[0]
    if j >= n:
        return fp[n - 1]
    if j == n - 1 or xp[j] == x:
        return fp[j]
    slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j])
    y = slope * (x - xp[j]) + fp[j]
    if y != y:
        y = slope * (x - xp[j + 1]) + fp[j + 1]
        if y != y and fp[j] == fp[j + 1]:
            y = fp[j]
    return y


@jit
def interp(x, xp, fp):
    n = len(xp)
    if n == 0:
        raise ValueError("array of sample points is empty")
    if isinstance(fp[0], complex) or isinstance(fp[0], np.complex64):
        return these_arguments()
    if len(fp) != n:
        raise ValueError("fp and xp are not of the same length.")
    at = xp.astype(np.float64)
    values = fp.astype(np.float64)
    if not isinstance(x, np.ndarray):
        one = float(x)
        return one if one != one else _between(one, at, values, _interval(one, at, 0))
    if x.ndim != 1:
        return these_arguments()
    made = np.empty(len(x))
    j = 0
    for i in range(len(x)):
        one = float(x[i])
        if one != one:
            made[i] = one
        else:
            j = _interval(one, at, j)
            made[i] = _between(one, at, values, j)
    return made
