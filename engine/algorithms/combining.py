"""Functions that combine two elements: arguments of algorithms."""

import numpy as np
import unisono as un


@un.jit
def add(a, b):
    return a + b


@un.jit
def multiply(a, b):
    return a * b


@un.jit
def minimum(a, b):
    return np.minimum(a, b)


@un.jit
def maximum(a, b):
    return np.maximum(a, b)


@un.jit
def before_complex(a, b):
    """Whether a complex number sorts before another: by real, then by imaginary parts, NaN last."""
    x, y, u, v = a.real, b.real, a.imag, b.imag
    if x < y:
        return u == u or v != v
    if x > y:
        return v != v and u == u
    if x == y or (x != x and y != y):
        return u < v or (v != v and u == u)
    return y != y


@un.jit
def minimum_complex(a, b):
    if a != a or (b == b and not before_complex(b, a)):
        return a
    return b


@un.jit
def maximum_complex(a, b):
    if a != a or (b == b and not before_complex(a, b)):
        return a
    return b


@un.jit
def bit_and(a, b):
    return a & b


@un.jit
def bit_or(a, b):
    return a | b


@un.jit
def bit_xor(a, b):
    return a ^ b
