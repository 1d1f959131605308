"""Functions of ``math`` for integers, builtins that show them, and ``round``, that compiled code calls.

Those of integers take what ``|`` takes: integers and bools. Results that 64 bits cannot hold raise OverflowError.
"""

from __future__ import annotations

import math

import numpy as np

from . import jit

_MOST = 2**63 - 1
_LARGEST_ROOT = 3037000499


@jit
def _common(a, b):
    while b:
        a, b = b, a % b
    return a


@jit
def gcd_of(integers):
    made = 0
    for n in integers:
        made = _common(made, abs(n | 0))
    return made


@jit
def gcd(*integers):
    return gcd_of(integers)


@jit
def _is_up(quotient, rest, unit):
    """Whether the multiple above is nearer, or as near and even."""
    half = unit // 2
    return rest > half or (rest == half and quotient % 2 == 1)


_LARGEST_COUNT = 2.0**53  # from here on floats are further apart than the numbers that are counted


@jit
def _rounded_integer(x, zeros):
    if zeros > 18:
        if zeros == 19 and (x > 5 * 10**18 or x < -5 * 10**18):
            raise OverflowError("the result does not fit in 64 bits")
        return 0
    unit = 1
    for _ in range(zeros):
        unit *= 10
    quotient, rest = divmod(x | 0, unit)
    if _is_up(quotient, rest, unit):
        quotient += 1
    if abs(quotient) > _MOST // unit:
        raise OverflowError("the result does not fit in 64 bits")
    return quotient * unit


@jit
def _rest(a, b, product):
    """a * b - product, where product is a * b as it was rounded (T. J. Dekker, Numer. Math. 18, 1971)."""
    upper_a = 134217729.0 * a
    upper_a -= upper_a - a
    upper_b = 134217729.0 * b
    upper_b -= upper_b - b
    lower_a = a - upper_a
    lower_b = b - upper_b
    return (
        (upper_a * upper_b - product) + upper_a * lower_b + lower_a * upper_b
    ) + lower_a * lower_b


@jit
def rounded(x, digits):
    """``round(x, digits)``: half to even, of what x is exactly, as CPython rounds.

    Counts tenths, hundredths, ... or tens, hundreds, ...: which count is nearest is found exactly, and the last
    operation rounds once. Beyond 22 digits powers of ten are no floats, and the result may be the one beside.
    """
    if isinstance(x, (int, np.integer, np.bool_)):
        return x | 0 if digits >= 0 else _rounded_integer(x, -digits)
    power = 1.0
    for _ in range(min(abs(digits), 340)):
        power *= 10.0
    value = float(x)
    if digits >= 0:
        product = value * power
        if not abs(product) < _LARGEST_COUNT:  # nor NaN
            return value
        count = float(np.rint(product))
        beyond = product - count
        rest = _rest(value, power, product)
        if beyond == 0.5 and rest > 0.0:
            count += 1.0
        if beyond == -0.5 and rest < 0.0:
            count -= 1.0
        return count / power
    count = float(np.rint(value / power))
    if not abs(count) < _LARGEST_COUNT:
        return value
    if math.isinf(power):
        return count
    multiple = count * power
    rest = (value - multiple) - _rest(count, power, multiple)
    half = power / 2.0
    if rest > half or (rest == half and count % 2.0 == 1.0):
        count += 1.0
    if rest < -half or (rest == -half and count % 2.0 == 1.0):
        count -= 1.0
    made = count * power
    if math.isinf(made):
        raise OverflowError("rounded value too large to represent")
    return made


@jit
def _product(a, b):
    if b != 0 and a > _MOST // b:
        raise OverflowError("the result does not fit in 64 bits")
    return a * b


@jit
def lcm_of(integers):
    made = 1
    for n in integers:
        size = abs(n | 0)
        made = 0 if size == 0 or made == 0 else _product(made // _common(made, size), size)
    return made


@jit
def lcm(*integers):
    return lcm_of(integers)


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


@jit
def prod(iterable, start=1):
    made = start
    for x in iterable:
        made = made * x
    return made


@jit
def fsum(seq):
    """The sum, rounded once: CPython's partial sums, which do not overlap."""
    partials = []
    special = 0.0
    infinite = 0.0
    has_special = False
    for x in seq:
        rest = float(x)
        given = rest
        kept = 0
        for j in range(len(partials)):
            y = partials[j]
            if abs(rest) < abs(y):
                rest, y = y, rest
            high = rest + y
            low = y - (high - rest)
            if low != 0.0:
                partials[kept] = low
                kept += 1
            rest = high
        while len(partials) > kept:
            partials.pop()
        if rest != 0.0:
            if rest - rest != 0.0:
                if given - given == 0.0:
                    raise OverflowError("intermediate overflow in fsum")
                if given == given:
                    infinite += given
                special += given
                has_special = True
                while len(partials) > 0:
                    partials.pop()
            else:
                partials.append(rest)
    if infinite != infinite:
        raise ValueError("-inf + inf in fsum")
    if has_special:
        return special
    n = len(partials)
    high = 0.0
    if n > 0:
        n -= 1
        high = partials[n]
        low = 0.0
        while n > 0:
            x = high
            n -= 1
            y = partials[n]
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                break
        # Half way between two floats the partial sums below decide.
        if (
            n > 0
            and low < 0.0
            and partials[n - 1] < 0.0
            or n > 0
            and low > 0.0
            and partials[n - 1] > 0.0
        ):
            y = low * 2.0
            x = high + y
            if y == x - high:
                high = x
    return high


@jit
def _modular_product(a, b, m):
    if m < 3037000499:
        return a * b % m
    made = 0
    while b:
        if b & 1:
            made = made - (m - a) if made >= m - a else made + a
        a = a - (m - a) if a >= m - a else a + a
        b >>= 1
    return made


@jit
def _inverse(a, m):
    old, new = a % m, m
    x, y = 1, 0
    while new:
        q = old // new
        old, new = new, old - q * new
        x, y = y, x - q * y
    if old != 1:
        raise ValueError("base is not invertible for the given modulus")
    return x % m


@jit
def modular_power(base, exp, mod):
    """``pow`` of three integers."""
    if mod == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    m = abs(mod | 0)
    n = exp | 0
    a = base % m
    if n < 0:
        a = _inverse(a, m)
        n = -n
    made = 1 % m
    while n:
        if n & 1:
            made = _modular_product(made, a, m)
        a = _modular_product(a, a, m)
        n >>= 1
    return made - m if mod < 0 and made else made


_MODULUS = 2**61 - 1


@jit
def _hash_of_int(n):
    if n == -(2**63):
        return -4
    size = abs(n) % _MODULUS
    made = -size if n < 0 else size
    return -2 if made == -1 else made


@jit
def _hash_of_float(v):
    if math.isinf(v):
        return 314159 if v > 0 else -314159
    if math.isnan(v):
        raise ValueError("hash of nan is not compiled: it is different for each object")
    m, e = math.frexp(abs(v))
    made = 0
    while m != 0.0:
        made = ((made << 28) & _MODULUS) | made >> 33
        m *= 268435456.0
        e -= 28
        whole = int(m)
        m -= whole
        made += whole
        if made >= _MODULUS:
            made -= _MODULUS
    e = e % 61
    made = ((made << e) & _MODULUS) | made >> (61 - e)
    made = -made if v < 0 else made
    return -2 if made == -1 else made


@jit
def hash(obj):
    """Of numbers, texts, objects that tell theirs, and tuples of these, as CPython's."""
    if isinstance(obj, tuple):
        made = 2870177450012600261
        for item in obj:
            made += hash(item) * -4417276706812531889
            made = (made << 31) | ((made >> 33) & 0x7FFFFFFF)
            made *= -7046029288634856825
        made += len(obj) ^ (2870177450012600261 ^ 3527539)
        return 1546275796 if made == -1 else made
    elif isinstance(obj, (float, np.floating)):
        return _hash_of_float(float(obj))
    elif isinstance(obj, (complex, np.complex64)):
        made = _hash_of_float(obj.real) + 1000003 * _hash_of_float(obj.imag)
        return -2 if made == -1 else made
    elif isinstance(obj, np.uint64):
        return int(obj % np.uint64(_MODULUS))
    elif isinstance(obj, (int, np.integer)):
        return _hash_of_int(int(obj))
    else:
        return obj.__hash__()


@jit
def _norm(coordinates):
    """The square root of the sum of squares, scaled, with one step of correction, as CPython's."""
    largest = 0.0
    for x in coordinates:
        largest = max(largest, abs(x))
        if x != x:
            largest = x
            break
    for x in coordinates:
        if abs(x) == math.inf:
            return math.inf
    if largest != largest or largest == 0.0:
        return largest
    if largest < 2.0**-1022:  # 1 / scale would overflow
        return _norm([x / 2.0**-1022 for x in coordinates]) * 2.0**-1022
    scale = math.ldexp(1.0, -math.frexp(largest)[1])
    total = 1.0
    rest = 0.0
    for c in coordinates:
        x = c * scale
        square = x * x
        old = total
        total += square
        rest += (old - total) + square + _rest(x, x, square)
    root = math.sqrt(total - 1.0 + rest)
    square = root * root
    old = total
    total -= square
    rest += (old - total) - square - _rest(root, root, square)
    return (root + (total - 1.0 + rest) / (2.0 * root)) / scale


@jit
def dist(p, q):
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return _norm([float(x) - float(y) for x, y in zip(p, q)])  # noqa: B905


@jit
def hypot(*coordinates):
    return _norm([float(x) for x in coordinates])


_functions = (gcd, lcm, factorial, perm, comb, isqrt, fsum, prod, dist, hypot, bin, oct, hex, hash)
implementations = {f.__name__: f for f in _functions}
