"""Functions of the module random that compiled code calls; after the same seed they draw Python's numbers.

Each thread has a stream of its own, which `seed` begins anew; it is none of the interpreter's.
"""

from __future__ import annotations

import math
import sys

from . import jit
from .engine_functions import engine_function

# Known to the front end by these names.
random_python_seed = engine_function("random_python_seed")
random_python_double = engine_function("random_python_double")
random_python_bits = engine_function("random_python_bits")
random_python_gauss = engine_function("random_python_gauss")


@jit
def seed(a):
    if not isinstance(a, int):
        raise TypeError("random.seed takes an integer in compiled code")
    random_python_seed(a)


@jit
def random():
    return random_python_double()


@jit
def getrandbits(k):
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    if k > 63:
        raise OverflowError("random.getrandbits gives at most 63 bits in compiled code")
    return random_python_bits(k)


@jit
def _below(n):
    k = n.bit_length()
    r = random_python_bits(k)
    while r >= n:
        r = random_python_bits(k)
    return r


_names_limits = sys.version_info >= (3, 12)  # in CPython's messages


@jit
def randrange(start, stop=None, step=1):
    if stop is None:
        if start <= 0:
            raise ValueError("empty range for randrange()")
        return _below(start)
    else:
        width = stop - start
        if step == 1:
            if width <= 0:
                if _names_limits:
                    raise ValueError(f"empty range in randrange({start}, {stop})")
                raise ValueError(f"empty range for randrange() ({start}, {stop}, {width})")
            return start + _below(width)
        if step == 0:
            raise ValueError("zero step for randrange()")
        n = (width + step - 1) // step if step > 0 else (width + step + 1) // step
        if n <= 0:
            if _names_limits:
                raise ValueError(f"empty range in randrange({start}, {stop}, {step})")
            raise ValueError("empty range for randrange()")
        return start + step * _below(n)


@jit
def randint(a, b):
    return randrange(a, b + 1)


@jit
def choice(seq):
    if len(seq) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[_below(len(seq))]


@jit
def shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = _below(i + 1)
        held = x[i]
        x[i] = x[j]
        x[j] = held


@jit
def sample(population, k):
    pool = list(population)
    n = len(pool)
    if k < 0 or k > n:
        raise ValueError("Sample larger than population or is negative")
    most = 21
    if k > 5:
        most += 4 ** math.ceil(math.log(k * 3) / math.log(4))
    made = pool[:k]
    if n <= most:
        for i in range(k):
            j = _below(n - i)
            made[i] = pool[j]
            pool[j] = pool[n - i - 1]
    else:
        selected = {-1}
        for i in range(k):
            j = _below(n)
            while j in selected:
                j = _below(n)
            selected.add(j)
            made[i] = pool[j]
    return made


@jit
def choices(population, weights=None, *, cum_weights=None, k=1):
    n = len(population)
    if weights is None and cum_weights is None:
        return [population[int(random_python_double() * n)] for _ in range(k)]
    else:
        sums = []
        if cum_weights is None:
            total = 0.0
            for w in weights:
                total += w
                sums.append(total)
        else:
            for w in cum_weights:
                sums.append(w + 0.0)
        if len(sums) != n:
            raise ValueError("The number of weights does not match the population")
        if sums[n - 1] <= 0.0:
            raise ValueError("Total of weights must be greater than zero")
        return [population[_place(sums, random_python_double() * sums[n - 1])] for _ in range(k)]


@jit
def _place(sums, x):
    low = 0
    high = len(sums) - 1
    while low < high:
        middle = (low + high) // 2
        if x < sums[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@jit
def uniform(a, b):
    return a + (b - a) * random_python_double()


@jit
def triangular(low=0.0, high=1.0, mode=None):
    u = random_python_double()
    if high == low:
        return low + 0.0
    c = 0.5 if mode is None else (mode - low) / (high - low)
    if u > c:
        return high + (low - high) * math.sqrt((1.0 - u) * (1.0 - c))
    return low + (high - low) * math.sqrt(u * c)


@jit
def gauss(mu=0.0, sigma=1.0):
    return mu + random_python_gauss() * sigma


@jit
def normalvariate(mu=0.0, sigma=1.0):
    z = 0.0
    while True:
        u1 = random_python_double()
        u2 = 1.0 - random_python_double()
        z = 1.7155277699214135 * (u1 - 0.5) / u2
        if z * z / 4.0 <= -math.log(u2):
            break
    return mu + z * sigma


@jit
def lognormvariate(mu, sigma):
    return math.exp(normalvariate(mu, sigma))


@jit
def expovariate(lambd=1.0):
    return -math.log(1.0 - random_python_double()) / lambd


@jit
def gammavariate(alpha, beta):
    if alpha <= 0.0 or beta <= 0.0:
        raise ValueError("gammavariate: alpha and beta must be > 0.0")
    x = 0.0
    if alpha > 1.0:
        root = math.sqrt(2.0 * alpha - 1.0)
        while True:
            u1 = random_python_double()
            if not 1e-7 < u1 < 0.9999999:
                continue
            u2 = 1.0 - random_python_double()
            v = math.log(u1 / (1.0 - u1)) / root
            x = alpha * math.exp(v)
            z = u1 * u1 * u2
            r = alpha - math.log(4.0) + (alpha + root) * v - x
            if r + 1.0 + math.log(4.5) - 4.5 * z >= 0.0 or r >= math.log(z):
                break
    elif alpha == 1.0:
        x = -math.log(1.0 - random_python_double())
    else:
        while True:
            b = (math.e + alpha) / math.e
            p = b * random_python_double()
            x = p ** (1.0 / alpha) if p <= 1.0 else -math.log((b - p) / alpha)
            u = random_python_double()
            if p > 1.0:
                if u <= x ** (alpha - 1.0):
                    break
            elif u <= math.exp(-x):
                break
    return x * beta


@jit
def betavariate(alpha, beta):
    y = gammavariate(alpha, 1.0)
    return y / (y + gammavariate(beta, 1.0)) if y else 0.0


@jit
def paretovariate(alpha):
    return (1.0 - random_python_double()) ** (-1.0 / alpha)


@jit
def weibullvariate(alpha, beta):
    return alpha * (-math.log(1.0 - random_python_double())) ** (1.0 / beta)


implementations = {
    name: function
    for name, function in list(globals().items())
    if hasattr(function, "py_func") and not name.startswith("_")
}
