"""Methods of a Generator of NumPy or ours that compiled code calls: the numbers that the Generator itself draws.

A Generator is passed by the address that its bit generator hands to C (`numpy.random.BitGenerator.ctypes`). What
NumPy's own samplers draw, those of its C interface (numpy/random/c_distributions.pxd), is drawn by them.
"""

from __future__ import annotations

import contextlib
import ctypes

import numpy as np

from .. import _engine
from . import distributions, jit
from .engine_functions import engine_function


def _word(name):
    return engine_function(f"random_of_{name}")


random_of_double = _word("double")
random_of_single = _word("single")
random_of_integer = _word("integer")
random_of_normal = _word("normal")
random_of_exponential = _word("exponential")
random_of_uniform = _word("uniform")
random_of_standard_cauchy = _word("standard_cauchy")
random_of_triangular = _word("triangular")


@jit
def _bits(rng):
    return rng.bit_generator.ctypes.bit_generator.value


@jit
def _filled(draw, size):
    return distributions.filled(draw, np.float64, size)


@jit
def _counted(draw, size):
    return distributions.filled(draw, np.int64, size)


@jit
def random(rng, size=None, dtype=np.float64):
    bits = _bits(rng)
    if dtype == np.float32:
        return distributions.filled(lambda: np.float32(random_of_single(bits)), np.float32, size)
    else:
        return _filled(lambda: random_of_double(bits), size)


@jit
def uniform(rng, low=0.0, high=1.0, size=None):
    bits = _bits(rng)
    if not np.all(high - low >= 0):
        raise ValueError("low > high")
    return distributions.filled_by(
        lambda a, b, c: random_of_uniform(bits, a, b, 0.0), low, high, 0.0, np.float64, size
    )


@jit
def standard_normal(rng, size=None):
    bits = _bits(rng)
    return _filled(lambda: random_of_normal(bits, 0.0, 1.0, 0.0), size)


@jit
def standard_exponential(rng, size=None):
    bits = _bits(rng)
    return _filled(lambda: random_of_exponential(bits, 1.0, 0.0, 0.0), size)


@jit
def standard_cauchy(rng, size=None):
    bits = _bits(rng)
    return _filled(lambda: random_of_standard_cauchy(bits, 0.0, 0.0, 0.0), size)


@jit
def triangular(rng, left, mode, right, size=None):
    bits = _bits(rng)
    a = float(left)
    b = float(mode)
    c = float(right)
    if not b - a >= 0:
        raise ValueError("left > mode")
    if not c - b >= 0:
        raise ValueError("mode > right")
    if not c - a > 0:
        raise ValueError("left == right")
    return _filled(lambda: random_of_triangular(bits, a, b, c), size)


@jit
def _part(bits, width, parts):
    """The next `width` bits of those that are left of 32 drawn together: what is left, how many parts."""
    if parts[1] == 0:
        parts[0] = random_of_integer(bits, 0, 4294967295, 0)
        parts[1] = 32 // width
    drawn = parts[0] & ((1 << width) - 1)
    parts[0] >>= width
    parts[1] -= 1
    return drawn


@jit
def _narrow(bits, first, span, width, parts):
    """An integer of `width` bits, by Lemire's method; bools by single bits."""
    if span == 0:
        return first
    if span + 1 == 1 << width:
        return first + _part(bits, width, parts)
    most = 1 << width
    product = _part(bits, width, parts) * (span + 1)
    if product % most < span + 1:
        least = (most - 1 - span) % (span + 1)
        while product % most < least:
            product = _part(bits, width, parts) * (span + 1)
    return first + product // most


@jit
def _bounds(low, high, endpoint):
    """The smallest value, and how many others follow it."""
    span = high - low if endpoint else high - low - 1
    if span < 0:
        raise ValueError("low > high" if endpoint else "low >= high")
    return low, span


@jit
def _within(low, high, least, most, endpoint, name):
    if low < least:
        raise ValueError("low is out of bounds for " + name)
    if high - (not endpoint) > most:
        raise ValueError("high is out of bounds for " + name)


@jit
def _width(low, high, dtype, endpoint):
    """Bits of the type, 64 where it holds them; ValueError where it does not hold the bounds."""
    if dtype == np.int64 or dtype == np.uint64:
        return 64
    else:
        width = 1 if dtype == np.bool_ else 8 * dtype.itemsize
        least = -(1 << (width - 1)) if dtype.kind == "i" else 0
        _within(low, high, least, least + (1 << width) - 1, endpoint, dtype.name)
        return width


@jit
def _between_arrays(rng, low, high, size, dtype, endpoint):
    """An integer for each pair of bounds."""
    bits = _bits(rng)
    lows = np.asarray(low)
    highs = np.asarray(high)
    made = np.empty((lows + highs).shape if size is None else size, dtype)
    lows = np.broadcast_to(lows, made.shape)
    highs = np.broadcast_to(highs, made.shape)
    parts = np.zeros(2, np.int64)
    for at in np.ndindex(made.shape):
        first, span = _bounds(int(lows[at]), int(highs[at]), endpoint)
        width = _width(int(lows[at]), int(highs[at]), dtype, endpoint)
        if width < 32:
            made[at] = _narrow(bits, first, span, width, parts)
        else:
            made[at] = random_of_integer(bits, first, span, 0)
    return made


@jit
def integers(rng, low, high=None, size=None, dtype=np.int64, endpoint=False):
    if isinstance(low, (np.ndarray, list)) or isinstance(high, (np.ndarray, list)):
        if high is None:
            return _between_arrays(rng, 0, low, size, dtype, endpoint)
        else:
            return _between_arrays(rng, low, high, size, dtype, endpoint)
    else:
        bits = _bits(rng)
        least = 0 if high is None else int(low)
        most = int(low) if high is None else int(high)
        first, span = _bounds(least, most, endpoint)
        width = _width(least, most, dtype, endpoint)
        if dtype.itemsize > 2:
            return distributions.filled(
                lambda: random_of_integer(bits, first, span, 0), dtype, size
            )
        else:
            parts = np.zeros(2, np.int64)
            return distributions.filled(
                lambda: _narrow(bits, first, span, width, parts), dtype, size
            )


@jit
def shuffle(rng, x, axis=0):
    if x.ndim == 1 or axis == 0 or axis == -x.ndim:
        _shuffled(rng, x)
    elif x.ndim == 2:
        _shuffled(rng, x.T)
    elif x.ndim == 3:
        _shuffled(rng, x.transpose(1, 0, 2) if axis == 1 or axis == -2 else x.transpose(2, 0, 1))
    else:
        raise ValueError("arrays of more than three axes are shuffled along the first one here")


@jit
def _shuffled(rng, x):
    bits = _bits(rng)
    for i in range(len(x) - 1, 0, -1):
        j = random_of_integer(bits, 0, i, 1)
        if x.ndim == 1:
            other = x[j]
            x[j] = x[i]
            x[i] = other
        else:
            row = x[j].copy()
            x[j] = x[i]
            x[i] = row


@jit
def permutation(rng, x, axis=0):
    if isinstance(x, int):
        made = np.arange(x)
        shuffle(rng, made)
        return made
    else:
        copied = x.copy()
        shuffle(rng, copied, axis)
        return copied


@jit
def _at_chances(rng, n, p, size):
    """Indices below n, each as often as its chance tells."""
    if len(p) != n:
        raise ValueError("a and p must have same size")
    if abs(np.sum(p) - 1.0) > 1.4901161193847656e-08:
        raise ValueError("Probabilities do not sum to 1.")
    sums = np.cumsum(p)
    sums = sums / sums[-1]
    return np.searchsorted(sums, random(rng, size), "right")


@jit
def _different(rng, n, count, shuffled):
    """`count` indices below n, none twice: the end of a shuffle where they are many, else Floyd's algorithm."""
    if count > n:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    bits = _bits(rng)
    if n > 10000 and count > n // (50 if shuffled else 20):
        all_of_them = np.arange(n)
        _swapped(bits, all_of_them, max(n - count, 1))
        return all_of_them[n - count :].copy()
    made = np.empty(count, np.int64)
    taken = set()
    for j in range(n - count, n):
        k = random_of_integer(bits, 0, j, 0)
        if k in taken:
            k = j
        taken.add(k)
        made[j - n + count] = k
    if shuffled:
        _swapped(bits, made, 1)
    return made


@jit
def _swapped(bits, x, first):
    for i in range(len(x) - 1, first - 1, -1):
        j = random_of_integer(bits, 0, i, 0)
        other = x[j]
        x[j] = x[i]
        x[i] = other


@jit
def choice(rng, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    n = a if isinstance(a, int) else len(a)
    if p is not None:
        if not replace:
            raise ValueError("choice of different items with p is not compiled")
        chosen = _at_chances(rng, n, p, size)
    elif replace or size is None:
        chosen = integers(rng, 0, n, size)
    else:
        empty = np.empty(size, np.int8)
        chosen = _different(rng, n, empty.size, shuffle).reshape(empty.shape)
    if isinstance(a, int):
        return chosen
    else:
        return a[chosen]


@jit
def standard_gamma(rng, shape, size=None):
    return _of_table_gamma(rng, shape, 1.0, size)


@jit
def multinomial(rng, n, pvals, size=None):
    bits = _bits(rng)
    return distributions.multinomial_by(
        lambda n, p: _binomial(bits, float(n), p, 0.0), n, pvals, size
    )


@jit
def dirichlet(rng, alpha, size=None):
    bits = _bits(rng)
    return distributions.dirichlet_by(lambda a: _gamma(bits, a, 1.0, 0.0), alpha, size)


def _form(name, count, is_whole):
    drawn = engine_function(f"random_{'count_' if is_whole else ''}of_{name}")
    given = [*"abc"[:count], *["0.0"] * (3 - count)]
    return f"drawn(bits, {', '.join(given)})", {"drawn": drawn}


_rows = (
    *distributions.rows,
    ("normal", "loc=0.0, scale=1.0", "- not_negative", False),
    ("lognormal", "mean=0.0, sigma=1.0", "- not_negative", False),
    ("exponential", "scale=1.0", "not_negative", False),
    ("laplace", "loc=0.0, scale=1.0", "- not_negative", False),
    ("logistic", "loc=0.0, scale=1.0", "- not_negative", False),
    ("gumbel", "loc=0.0, scale=1.0", "- not_negative", False),
    ("rayleigh", "scale=1.0", "not_negative", False),
    ("weibull", "a", "not_negative", False),
    ("pareto", "a", "positive", False),
    ("power", "a", "positive", False),
)


def _tell_samplers():
    """Name NumPy's own functions to the engine; where NumPy does not export them, ours draw.

    Ours also draw normal and exponential numbers: the same bits, by the same tables, without NumPy's branch on the
    sign, which is mispredicted half the time.
    """
    found = ctypes.CDLL(np.random._generator.__file__)
    of_tables = {row[0] for row in _rows} - {"normal", "exponential"}
    for name in (*of_tables, "standard_cauchy", "triangular"):
        with contextlib.suppress(AttributeError):
            function = getattr(found, f"random_{name}")
            _engine._tell_numpy_sampler(name, ctypes.cast(function, ctypes.c_void_p).value)


_tell_samplers()
_of_table = distributions.implementations(
    _rows, _form, "rng, ", "    bits = _bits(rng)", {"_bits": _bits}
)
_of_table_gamma = _of_table["gamma"]
_binomial = engine_function("random_count_of_binomial")
_gamma = engine_function("random_of_gamma")
methods = _of_table | {
    name: function
    for name, function in list(globals().items())
    if hasattr(function, "py_func") and not name.startswith("_")
}
