"""Functions of numpy.random that compiled code calls; after the same seed they draw NumPy's numbers.

Each thread has a stream of its own, which `seed` begins anew.
"""

from __future__ import annotations

import numpy as np

from . import jit


# Known to the front end by these names.
def random_seed(n):
    pass


def random_double():
    pass


def random_normal():
    pass


def random_integer(low, span):
    pass


for _word in (random_seed, random_double, random_normal, random_integer):
    _word.__module__ = "unisono"


@jit
def seed(seed):
    random_seed(seed)


@jit
def random(size=None):
    if size is None:
        return random_double()
    else:
        made = np.empty(size)
        flat = made.reshape(-1)
        for i in range(made.size):
            flat[i] = random_double()
        return made


@jit
def rand(*shape):
    if len(shape) == 0:
        return random_double()
    else:
        return random(shape)


@jit
def uniform(low=0.0, high=1.0, size=None):
    if size is None:
        return low + (high - low) * random_double()
    else:
        return low + (high - low) * random(size)


@jit
def normal(loc=0.0, scale=1.0, size=None):
    if size is None:
        return loc + scale * random_normal()
    else:
        made = np.empty(size)
        flat = made.reshape(-1)
        for i in range(made.size):
            flat[i] = loc + scale * random_normal()
        return made


@jit
def standard_normal(size=None):
    return normal(0.0, 1.0, size)


@jit
def randn(*shape):
    if len(shape) == 0:
        return random_normal()
    else:
        return normal(0.0, 1.0, shape)


@jit
def randint(low, high=None, size=None):
    first = 0 if high is None else low
    end = low if high is None else high
    if end <= first:
        raise ValueError("low >= high")
    if size is None:
        return random_integer(first, end - first - 1)
    else:
        made = np.empty(size, dtype=np.int64)
        flat = made.reshape(-1)
        for i in range(made.size):
            flat[i] = random_integer(first, end - first - 1)
        return made


@jit
def exponential(scale=1.0, size=None):
    if size is None:
        return scale * -np.log(1.0 - random_double())
    else:
        return scale * -np.log(1.0 - random(size))


@jit
def shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = random_integer(0, i)
        held = x[i]
        x[i] = x[j]
        x[j] = held


@jit
def permutation(x):
    made = np.arange(x) if isinstance(x, int) else x.copy()
    shuffle(made)
    return made


@jit
def _chosen(n, p):
    """A number below n, each with the chance that p has for it."""
    cdf = np.cumsum(p)
    u = random_double()
    last = cdf[n - 1]
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if cdf[middle] / last <= u:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def _indices(n, count, replace, p):
    made = np.empty(count, dtype=np.int64)
    if p is not None:
        if not replace:
            raise ValueError("choice of different items with p is not compiled")
        for i in range(count):
            made[i] = _chosen(n, p)
    elif replace:
        for i in range(count):
            made[i] = random_integer(0, n - 1)
    else:
        if count > n:
            raise ValueError("Cannot take a larger sample than population when 'replace=False'")
        made[:] = permutation(n)[:count]
    return made


@jit
def choice(a, size=None, replace=True, p=None):
    n = a if isinstance(a, (int, np.integer)) else len(a)
    if n <= 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if size is None:
        k = random_integer(0, n - 1) if p is None else _chosen(n, p)
        return k if isinstance(a, (int, np.integer)) else a[k]
    else:
        empty = np.empty(size, dtype=np.int64)
        indices = _indices(n, empty.size, replace, p).reshape(empty.shape)
        if isinstance(a, (int, np.integer)):
            return indices
        else:
            return a[indices]


@jit
def standard_exponential(size=None):
    return exponential(1.0, size)


@jit
def lognormal(mean=0.0, sigma=1.0, size=None):
    return np.exp(normal(mean, sigma, size))


@jit
def rayleigh(scale=1.0, size=None):
    if size is None:
        return scale * np.sqrt(-2.0 * np.log1p(-random_double()))
    else:
        return scale * np.sqrt(-2.0 * np.log1p(-random(size)))


@jit
def weibull(a, size=None):
    return exponential(1.0, size) ** (1.0 / a)


@jit
def pareto(a, size=None):
    return np.expm1(exponential(1.0, size) / a)


@jit
def _laplace():
    while True:
        u = random_double()
        if u >= 0.5:
            return -np.log(2.0 - u - u)
        if u > 0.0:
            return np.log(u + u)


@jit
def _gumbel():
    while True:
        u = 1.0 - random_double()
        if u < 1.0:
            return np.log(-np.log(u))


@jit
def _logistic():
    while True:
        u = random_double()
        if u > 0.0:
            return np.log(u / (1.0 - u))


@jit
def _filled(draw, size):
    made = np.empty(size)
    flat = made.reshape(-1)
    for i in range(made.size):
        flat[i] = draw()
    return made


@jit
def laplace(loc=0.0, scale=1.0, size=None):
    if size is None:
        return loc + scale * _laplace()
    else:
        return loc + scale * _filled(_laplace, size)


@jit
def gumbel(loc=0.0, scale=1.0, size=None):
    if size is None:
        return loc - scale * _gumbel()
    else:
        return loc - scale * _filled(_gumbel, size)


@jit
def logistic(loc=0.0, scale=1.0, size=None):
    if size is None:
        return loc + scale * _logistic()
    else:
        return loc + scale * _filled(_logistic, size)


implementations = {
    name: function
    for name, function in list(globals().items())
    if hasattr(function, "py_func") and not name.startswith("_")
}
implementations["random_sample"] = implementations["ranf"] = implementations["random"]
