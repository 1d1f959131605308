"""Functions of numpy.random that compiled code calls; after the same seed they draw NumPy's numbers.

Each thread has a stream of its own, which `seed` begins anew.
"""

from __future__ import annotations

import numpy as np

from . import distributions, jit
from .engine_functions import engine_function

# Known to the front end by these names.
random_seed = engine_function("random_seed")
random_double = engine_function("random_double")
random_normal = engine_function("random_normal")
random_integer = engine_function("random_integer")


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
def _shape_of(a, b, size):
    """The shape of the result where parameters are arrays; else what was asked for."""
    if size is None and (isinstance(a, np.ndarray) or isinstance(b, np.ndarray)):
        return (a + b).shape
    else:
        return size


@jit
def uniform(low=0.0, high=1.0, size=None):
    size = _shape_of(low, high, size)
    if size is None:
        return low + (high - low) * random_double()
    else:
        return low + (high - low) * random(size)


@jit
def normal(loc=0.0, scale=1.0, size=None):
    size = _shape_of(loc, scale, size)
    if size is None:
        return loc + scale * random_normal()
    else:
        return loc + scale * distributions.filled(lambda: random_normal(), np.float64, size)


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
    size = _shape_of(scale, 0.0, size)
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
    size = _shape_of(scale, 0.0, size)
    if size is None:
        return scale * np.sqrt(-2.0 * np.log1p(-random_double()))
    else:
        return scale * np.sqrt(-2.0 * np.log1p(-random(size)))


@jit
def weibull(a, size=None):
    size = _shape_of(a, 0.0, size)
    return exponential(1.0, size) ** (1.0 / a)


@jit
def pareto(a, size=None):
    size = _shape_of(a, 0.0, size)
    return np.exp(exponential(1.0, size) / a) - 1.0


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
def laplace(loc=0.0, scale=1.0, size=None):
    size = _shape_of(loc, scale, size)
    if size is None:
        return loc + scale * _laplace()
    else:
        return loc + scale * distributions.filled(_laplace, np.float64, size)


@jit
def gumbel(loc=0.0, scale=1.0, size=None):
    size = _shape_of(loc, scale, size)
    if size is None:
        return loc - scale * _gumbel()
    else:
        return loc - scale * distributions.filled(_gumbel, np.float64, size)


@jit
def logistic(loc=0.0, scale=1.0, size=None):
    size = _shape_of(loc, scale, size)
    if size is None:
        return loc + scale * _logistic()
    else:
        return loc + scale * distributions.filled(_logistic, np.float64, size)


random_standard_cauchy = engine_function("random_standard_cauchy")
random_triangular = engine_function("random_triangular")


@jit
def standard_cauchy(size=None):
    return distributions.filled(lambda: random_standard_cauchy(), np.float64, size)


@jit
def triangular(left, mode, right, size=None):
    a = float(left)
    b = float(mode)
    c = float(right)
    if a > b:
        raise ValueError("left > mode")
    if b > c:
        raise ValueError("mode > right")
    if a == c:
        raise ValueError("left == right")
    return distributions.filled(lambda: random_triangular(a, b, c), np.float64, size)


@jit
def power(a, size=None):
    if not np.all(a > 0):
        raise ValueError("a <= 0")
    size = _shape_of(a, 0.0, size)
    return (1.0 - np.exp(-exponential(1.0, size))) ** (1.0 / a)


@jit
def standard_gamma(shape, size=None):
    return _of_table_gamma(shape, 1.0, size)


@jit
def multinomial(n, pvals, size=None):
    return distributions.multinomial_by(lambda n, p: _binomial(float(n), p), n, pvals, size)


@jit
def dirichlet(alpha, size=None):
    return distributions.dirichlet_by(lambda a: _gamma(a), alpha, size)


def _form(name, count, is_whole):
    drawn = engine_function(f"random_{'count_' if is_whole else ''}{name}")
    if name == "gamma":
        return "b * drawn(a)", {"drawn": drawn}
    return f"drawn({', '.join('abc'[:count])})", {"drawn": drawn}


_of_table = distributions.implementations(distributions.rows, _form)
_of_table_gamma = _of_table["gamma"]
_binomial = engine_function("random_count_binomial")
_gamma = engine_function("random_gamma")
implementations = {
    name: function
    for name, function in list(globals().items())
    if hasattr(function, "py_func") and not name.startswith("_")
}
implementations |= _of_table
implementations["random_sample"] = implementations["ranf"] = implementations["sample"] = (
    implementations["random"]
)
