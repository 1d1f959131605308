"""Functions of ``math`` for integers, and builtins that show them, that compiled code calls.

They take what ``|`` takes: integers and bools. Results that 64 bits cannot hold raise OverflowError.
"""

from __future__ import annotations

import math

from . import jit

_MOST = 2**63 - 1
_LARGEST_ROOT = 3037000499


@jit
def _common(a, b):
    while b:
        a, b = b, a % b
    return a


@jit
def gcd(*integers):
    made = 0
    for n in integers:
        made = _common(made, abs(n | 0))
    return made


@jit
def _product(a, b):
    if b != 0 and a > _MOST // b:
        raise OverflowError("the result does not fit in 64 bits")
    return a * b


@jit
def lcm(*integers):
    made = 1
    for n in integers:
        size = abs(n | 0)
        made = 0 if size == 0 or made == 0 else _product(made // _common(made, size), size)
    return made


@jit
def factorial(n):
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    made = 1
    for k in range(2, (n | 0) + 1):
        made = _product(made, k)
    return made


@jit
def perm(n, k):
    if n < 0 or k < 0:
        raise ValueError("n and k must be non-negative integers")
    made = 1 if (k | 0) <= n else 0
    for i in range(k if k <= n else 0):
        made = _product(made, (n | 0) - i)
    return made


@jit
def comb(n, k):
    if n < 0 or k < 0:
        raise ValueError("n and k must be non-negative integers")
    if k > n:
        return 0
    made = 1
    for i in range(min(k | 0, (n | 0) - k)):
        common = _common(made, i + 1)  # what is divided by divides one of the two
        made = _product(made // common, (n - i) // ((i + 1) // common))
    return made


@jit
def isqrt(n):
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = min(int(math.sqrt(n | 0)), _LARGEST_ROOT)
    while root * root > n:
        root -= 1
    while root < _LARGEST_ROOT and (root + 1) * (root + 1) <= n:
        root += 1
    return root


@jit
def _signed(n, prefix):
    return "-" + prefix if n < 0 else prefix


@jit
def bin(n):
    return _signed(n, "0b") + f"{abs(n | 0):b}"


@jit
def oct(n):
    return _signed(n, "0o") + f"{abs(n | 0):o}"


@jit
def hex(n):
    return _signed(n, "0x") + f"{abs(n | 0):x}"


implementations = {f.__name__: f for f in (gcd, lcm, factorial, perm, comb, isqrt, bin, oct, hex)}
