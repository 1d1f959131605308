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


implementations = {
    name: function for name, function in list(globals().items()) if hasattr(function, "py_func")
}
implementations["random_sample"] = implementations["ranf"] = implementations["random"]
