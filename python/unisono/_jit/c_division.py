"""Division of integers with C's signs, for functions compiled with ``cdivision=True``."""

from __future__ import annotations

import numpy as np

from . import jit


@jit
def quotient(a, b):
    """``a // b``, of integers cut towards zero."""
    if isinstance(a, (int, np.integer)) and isinstance(b, (int, np.integer)):
        q = a // b
        if a - q * b != 0 and (a < 0) != (b < 0):
            q += 1
        return q
    return a // b


@jit
def remainder(a, b):
    """``a % b``, of integers and floats with the sign of a."""
    if isinstance(a, (int, np.integer)) and isinstance(b, (int, np.integer)):
        r = a % b
        if r != 0 and (a < 0) != (b < 0):
            r -= b
        return r
    if isinstance(a, (int, float, np.floating)) and isinstance(b, (int, float, np.floating)):
        return np.fmod(a, b)
    return a % b
