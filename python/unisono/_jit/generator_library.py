"""Methods of NumPy's Generator that compiled code calls: the numbers that the Generator itself draws.

Integers and fractions have NumPy's bits; what comes of ziggurats (normal, exponential) may differ in the last ones. A
Generator is passed by the address that its bit generator hands to C (`numpy.random.BitGenerator.ctypes`).
"""

from __future__ import annotations

import numpy as np

from . import jit


def _word(name):
    def word(bits, a=0.0, b=0.0, c=0.0):
        pass

    word.__name__ = word.__qualname__ = f"random_of_{name}"
    word.__module__ = "unisono"  # known to the front end by that name
    return word


random_of_double = _word("double")
random_of_integer = _word("integer")
random_of_uniform = _word("uniform")
random_of_normal = _word("normal")
random_of_exponential = _word("exponential")
random_of_standard_cauchy = _word("standard_cauchy")
random_of_laplace = _word("laplace")
random_of_logistic = _word("logistic")
random_of_gumbel = _word("gumbel")
random_of_lognormal = _word("lognormal")
random_of_rayleigh = _word("rayleigh")
random_of_weibull = _word("weibull")
random_of_pareto = _word("pareto")
random_of_power = _word("power")
random_of_triangular = _word("triangular")


@jit
def _bits(rng):
    return rng.bit_generator.ctypes.bit_generator.value


@jit
def _filled(draw, size):
    if size is None:
        return draw()
    else:
        made = np.empty(size)
        flat = made.reshape(-1)
        for i in range(made.size):
            flat[i] = draw()
        return made


@jit
def _counted(draw, size):
    if size is None:
        return draw()
    else:
        made = np.empty(size, np.int64)
        flat = made.reshape(-1)
        for i in range(made.size):
            flat[i] = draw()
        return made


@jit
def _not_negative(x, message):
    if not x >= 0:
        raise ValueError(message)


@jit
def _positive(x, message):
    if not x > 0:
        raise ValueError(message)


@jit
def random(rng, size=None):
    bits = _bits(rng)
    return _filled(lambda: random_of_double(bits), size)


@jit
def uniform(rng, low=0.0, high=1.0, size=None):
    bits = _bits(rng)
    a = float(low)
    b = float(high)
    _not_negative(b - a, "low > high")
    return _filled(lambda: random_of_uniform(bits, a, b, 0.0), size)


@jit
def standard_normal(rng, size=None):
    bits = _bits(rng)
    return _filled(lambda: random_of_normal(bits, 0.0, 1.0, 0.0), size)


@jit
def normal(rng, loc=0.0, scale=1.0, size=None):
    bits = _bits(rng)
    a = float(loc)
    b = float(scale)
    _not_negative(b, "scale < 0")
    return _filled(lambda: random_of_normal(bits, a, b, 0.0), size)


@jit
def lognormal(rng, mean=0.0, sigma=1.0, size=None):
    bits = _bits(rng)
    a = float(mean)
    b = float(sigma)
    _not_negative(b, "sigma < 0")
    return _filled(lambda: random_of_lognormal(bits, a, b, 0.0), size)


@jit
def standard_exponential(rng, size=None):
    bits = _bits(rng)
    return _filled(lambda: random_of_exponential(bits, 1.0, 0.0, 0.0), size)


@jit
def exponential(rng, scale=1.0, size=None):
    bits = _bits(rng)
    a = float(scale)
    _not_negative(a, "scale < 0")
    return _filled(lambda: random_of_exponential(bits, a, 0.0, 0.0), size)


@jit
def standard_cauchy(rng, size=None):
    bits = _bits(rng)
    return _filled(lambda: random_of_standard_cauchy(bits, 0.0, 0.0, 0.0), size)


@jit
def laplace(rng, loc=0.0, scale=1.0, size=None):
    bits = _bits(rng)
    a = float(loc)
    b = float(scale)
    _not_negative(b, "scale < 0")
    return _filled(lambda: random_of_laplace(bits, a, b, 0.0), size)


@jit
def logistic(rng, loc=0.0, scale=1.0, size=None):
    bits = _bits(rng)
    a = float(loc)
    b = float(scale)
    _not_negative(b, "scale < 0")
    return _filled(lambda: random_of_logistic(bits, a, b, 0.0), size)


@jit
def gumbel(rng, loc=0.0, scale=1.0, size=None):
    bits = _bits(rng)
    a = float(loc)
    b = float(scale)
    _not_negative(b, "scale < 0")
    return _filled(lambda: random_of_gumbel(bits, a, b, 0.0), size)


@jit
def rayleigh(rng, scale=1.0, size=None):
    bits = _bits(rng)
    a = float(scale)
    _not_negative(a, "scale < 0")
    return _filled(lambda: random_of_rayleigh(bits, a, 0.0, 0.0), size)


@jit
def weibull(rng, a, size=None):
    bits = _bits(rng)
    p = float(a)
    _not_negative(p, "a < 0")
    return _filled(lambda: random_of_weibull(bits, p, 0.0, 0.0), size)


@jit
def pareto(rng, a, size=None):
    bits = _bits(rng)
    p = float(a)
    _positive(p, "a <= 0")
    return _filled(lambda: random_of_pareto(bits, p, 0.0, 0.0), size)


@jit
def power(rng, a, size=None):
    bits = _bits(rng)
    p = float(a)
    _positive(p, "a <= 0")
    return _filled(lambda: random_of_power(bits, p, 0.0, 0.0), size)


@jit
def triangular(rng, left, mode, right, size=None):
    bits = _bits(rng)
    a = float(left)
    b = float(mode)
    c = float(right)
    _not_negative(b - a, "left > mode")
    _not_negative(c - b, "mode > right")
    _positive(c - a, "left == right")
    return _filled(lambda: random_of_triangular(bits, a, b, c), size)


@jit
def integers(rng, low, high=None, size=None, endpoint=False):
    bits = _bits(rng)
    first = 0 if high is None else int(low)
    last = int(low) if high is None else int(high)
    span = last - first if endpoint else last - first - 1
    if last < first or span < 0:
        raise ValueError("low > high" if endpoint else "low >= high")
    return _counted(lambda: random_of_integer(bits, first, span, 0), size)


@jit
def shuffle(rng, x):
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
def permutation(rng, x):
    if isinstance(x, int):
        made = np.arange(x)
        shuffle(rng, made)
        return made
    else:
        copied = x.copy()
        shuffle(rng, copied)
        return copied


@jit
def choice(rng, a, size=None):
    if isinstance(a, int):
        return integers(rng, 0, a, size)
    else:
        return a[integers(rng, 0, len(a), size)]


methods = {
    name: function
    for name, function in list(globals().items())
    if hasattr(function, "py_func") and not name.startswith("_")
}
