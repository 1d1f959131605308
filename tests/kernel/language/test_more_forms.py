"""Forms of Python that are written with simpler ones: iterators, imports, tuples, sets, generators."""

import functools
import itertools
import math

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


def products(n, xs):
    s = []
    for i, j in itertools.product(range(n), range(1, n + 1)):
        s.append(i * 10 + j)
    for a, b in itertools.product(xs, repeat=2):
        s.append(a * b)
    for (x,) in itertools.product(xs):
        s.append(x)
    return s


def other_iterators(n, xs):
    s = []
    for x in itertools.chain(xs, range(n), xs):
        s.append(x)
    for x in itertools.repeat(n, 3):
        s.append(x)
    for x in itertools.islice(xs, 2):
        s.append(x)
    for a, b in itertools.pairwise(xs):
        s.append(b - a)
    for x in itertools.chain(xs):
        s.append(x)
    return s


def reductions(xs):
    first = functools.reduce(lambda a, b: a * 2 + b, xs)
    return first, functools.reduce(lambda a, b: max(a, b), xs, 100), functools.reduce(pick, xs)


@un.jit
def pick(a, b):
    return a if a < b else b


def empty_reduction(n):
    xs = [i for i in range(n)]
    return functools.reduce(lambda a, b: a + b, xs)


@un.jit
def squares(n):
    for i in range(n):
        yield i * i


def plain_squares(n):
    return [i * i for i in range(n)]


def generators(n):
    s = 0
    for k, x in enumerate(squares(n), 5):
        if x == 4:
            continue
        s += k * x
    return s, list(squares(n)), sum(squares(n)), max(squares(n)), sorted(squares(n), reverse=True)


def generators_plain(n):
    s = 0
    for k, x in enumerate(plain_squares(n), 5):
        if x == 4:
            continue
        s += k * x
    q = plain_squares(n)
    return s, q, sum(q), max(q), sorted(q, reverse=True)


def expressions_of_generators(xs):
    s = 0
    for k, x in enumerate(v * v for v in xs):
        s += k * x
    for a, b in zip((v + 1 for v in xs), xs, strict=False):
        s += a * b
    return s


def tuples(a, b):
    t = (a, b) * 2 + 2 * (b,)
    return t, tuple(t), tuple([a, b]), (a,) * 0, tuple()


def identities(a, b):
    p, q = a > b, a < b
    return p is True, q is not False, p is q, p is not None


def lists(a, b):
    x, y = [a, b], [a, b, 1]
    return x == y, x != y, x < y, [a] + [b] == x, y >= x


def attributes(a):
    same = a.dtype == np.float64, a.dtype != np.int64, a.dtype.kind == "f", a.dtype.itemsize
    return same, a.dtype.kind in "iu", a.dtype.name not in "x", a.itemsize, a.nbytes, a.strides


def empties(n):
    s = list()
    s.append(n)
    d = dict.fromkeys([1, n], 0.5)
    return s, str(), int(), float(), bool(), d  # noqa: UP018


def several(a, b, c):
    x, y, z = set(a), set(b), set(c)
    return sorted(x.union(y, z)), sorted(x.intersection(y, z)), sorted(x.difference(y, z))


def updates(a, b):
    x, y, z = set(a), set(a), set(a)
    x.intersection_update(set(b))
    y.difference_update(set(b))
    z.symmetric_difference_update(set(b))
    s = [1]
    s.extend(range(3))
    s.extend(i * j for i, j in itertools.product(s, s))
    return sorted(x), sorted(y), sorted(z), s


def unions(x):
    if isinstance(x, int | float):
        return x * 2
    return 0


def limits(n):
    return np.finfo(np.float64).eps * n, np.iinfo(np.int32).max - n, np.finfo(np.float32).max > n


def decorated(n):
    @un.jit
    def inner(x):
        return x + n

    return inner(2)


def flat_loop(a):
    s = 0.0
    for k, x in enumerate(a.flat):
        s = s * 0.5 + x * k
    return s


CASES = {
    "products": (products, (3, [2, 5, 7])),
    "none": (products, (0, [2])),
    "iterators": (other_iterators, (2, [4, 9, 1])),
    "reduce": (reductions, ([5, 3, 8],)),
    "generator expressions": (expressions_of_generators, ([1, 2, 3],)),
    "tuples": (tuples, (1, 2.5)),
    "identities": (identities, (1, 2)),
    "lists": (lists, (1, 2)),
    "attributes": (attributes, (np.ones((2, 3))[:, ::2],)),
    "attributes of int": (attributes, (np.ones(4, np.int32),)),
    "empties": (empties, (3,)),
    "sets": (several, ([1, 2, 3, 4], [2, 3, 9], [3, 4])),
    "updates": (updates, ([1, 2, 3, 4], [2, 3, 9])),
    "int or float": (unions, (4,)),
    "neither": (unions, (1j,)),
    "limits": (limits, (3,)),
    "decorated": (decorated, (3,)),
    "flat": (flat_loop, (np.arange(6.0).reshape(2, 3).T,)),
}


def plain(value):
    """NumPy's scalars as Python's: compiled functions return those."""
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    return value.item() if isinstance(value, np.generic) else value


@pytest.mark.parametrize("name", CASES)
def test_forms(on, name):
    function, args = CASES[name]
    want = function(*args)
    got = un.jit(function, device=on)(*args)
    assert got == want and repr(plain(got)) == repr(plain(want))


def test_generators(on):
    assert un.jit(generators, device=on)(5) == generators_plain(5)


def test_reduction_of_nothing(on):
    with pytest.raises(TypeError, match="of empty iterable with no initial value"):
        un.jit(empty_reduction, device=on)(0)
    assert un.jit(empty_reduction, device=on)(4) == 6


def interpolated(x, xp, fp):
    return np.interp(x, xp, fp), np.interp(x[0], xp, fp), np.diff(fp)


def test_interp_as_numpy_finds_intervals(on):
    f = un.jit(interpolated, device=on)
    rng = np.random.default_rng(1)
    for k in range(60):
        n = 1 + k % 30
        x, xp, fp = rng.normal(size=20), rng.normal(size=n), rng.normal(size=n)
        if k % 3:
            xp.sort()
        if k % 5 == 0 and n > 2:
            fp[1], fp[2], x[0] = np.inf, -np.inf, np.nan
        with np.errstate(all="ignore"):
            want = interpolated(x, xp, fp)
        for a, b in zip(f(x, xp, fp), want, strict=True):
            assert np.array_equal(a, b, equal_nan=True)
    with pytest.raises(ValueError, match="fp and xp are not of the same length"):
        f(np.ones(3), np.ones(3), np.ones(2))


def differences(a):
    return np.diff(a), np.diff(a, 2), np.square(a), np.deg2rad(a), np.isposinf(a)


def test_differences_along_the_last_axis(on):
    a = np.arange(24.0).reshape(2, 3, 4) ** 2
    for x, y in zip(un.jit(differences, device=on)(a), differences(a), strict=True):
        assert np.array_equal(x, y)


def without_axes(a):
    return a.reshape(1), a[None], a.ravel(), np.broadcast_to(a, (2, 3))


def test_views_of_arrays_without_axes(on):
    a = np.array(7.0)
    for x, y in zip(un.jit(without_axes, device=on)(a), without_axes(a), strict=True):
        assert np.array_equal(x, y) and np.asarray(x).dtype == y.dtype
    with pytest.raises(TypeError, match="datetime64"):
        un.jit(without_axes, device=on)(np.datetime64("2001-01-01"))


def draws(a, p):
    np.random.seed(3)
    return (
        np.random.choice(a),
        np.random.choice(5, 4),
        np.random.choice(a, (2, 3)),
        np.random.choice(a, 3, replace=False),
        np.random.choice(3, 6, p=p),
        np.random.lognormal(0.1, 2.0, 3),
        np.random.rayleigh(2.0, 3),
        np.random.weibull(1.5, 3),
        np.random.pareto(2.0, 3),
        np.random.laplace(1.0, 2.0, 4),
        np.random.gumbel(),
        np.random.logistic(0.0, 1.0, 3),
    )


def test_draws(on):
    args = np.arange(7) * 2.0, np.array([0.2, 0.5, 0.3])
    for x, y in zip(un.jit(draws, device=on)(*args), draws(*args), strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert x.dtype == y.dtype and x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=1e-15)  # log1p and expm1 may differ by an ULP


def of_arrays(a, b):
    return np.array((a, b)), np.array([a, b, a], dtype=np.float32), np.array((a * 2, b[::-1]))


def without_nan(a):
    return np.nansum(a), np.nanmax(a), np.nanmin(a), np.nanmean(a)


def different(a):
    return np.unique(a), np.sort(a), np.argsort(a)


def same(got, want):
    for x, y in zip(got, want, strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert x.shape == y.shape and (
            x.dtype == y.dtype if y.ndim else x.dtype.kind == y.dtype.kind
        )
        assert np.array_equal(x, y, equal_nan=True)


def test_arrays_of_arrays(on):
    for a, b in ((np.arange(3.0), np.arange(3)), (np.ones((2, 2)), np.zeros((2, 2)))):
        same(un.jit(of_arrays, device=on)(a, b), of_arrays(a, b))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "int64", "float32", "float64"])
def test_without_nan(on, dtype):
    f = un.jit(without_nan, device=on)
    a = (np.arange(12) % 5).astype(dtype).reshape(3, 4)
    same(f(a), without_nan(a))
    if a.dtype.kind == "f":
        a[1, 2] = np.nan
        same(f(a), without_nan(a))
        with pytest.raises(ValueError, match="zero-size array to reduction operation fmax"):
            f(a[:0])


def test_one_nan_is_as_another(on):
    nan = np.nan
    for a in ([1, nan, 2, nan, 1], [nan, nan], [1 + 1j, 2, complex(nan, 2), 1 + 1j, 0]):
        a = np.array(a)
        same(un.jit(different, device=on)(a), different(a))


def enumerated(a):
    s = 0.0
    last = (-1,) * a.ndim
    for index, x in np.ndenumerate(a):
        s += x * (sum(index) + 1)
        last = index
    return s, last


def indices(shape, n):
    found = [0]
    for index in np.ndindex(shape):
        found.append(sum(index) + len(index))
    for (i,) in np.ndindex(n):
        found.append(i)
    return found


def test_indices_of_arrays(on):
    f, g = un.jit(enumerated, device=on), un.jit(indices, device=on)
    for shape in ((5,), (2, 3), (2, 3, 4), (2, 1, 3, 2), (2, 1, 3, 2, 2), (0, 3)):
        a = np.arange(float(np.prod(shape))).reshape(shape).T
        assert f(a) == enumerated(a)
        assert g(shape, 3) == indices(shape, 3)


def ranges(i, f):
    return np.arange(i), np.arange(i, 5), np.arange(0, 9, i), np.arange(f, 4 * f, f), np.arange(f)


def test_ranges_of_narrow_numbers(on):
    g = un.jit(ranges, device=on)
    for i, f in ((np.int8(3), np.float32(0.7)), (np.uint16(2), np.float32(1.1)), (3, 0.7)):
        for got, want in zip(g(i, f), ranges(i, f), strict=True):
            assert np.array_equal(got, want) and np.asarray(got).dtype == want.dtype


def strided(a, k, first):
    b = a.copy()
    b[first::k] = 0
    b[:, ::k] += 1
    return a[::k], a[1:-1:k, 2], a[3:0:k], a[first::k, ::k] * 2, a[:first:k], b, len(a[::k])


def test_steps_that_the_run_tells(on):
    f = un.jit(strided, device=on)
    for shape in ((5, 4), (1, 3), (0, 3)):
        a = np.arange(float(np.prod(shape))).reshape(shape)
        for k, first in itertools.product((1, 2, 3, -1, -2, 9, -9), (None, 0, 2, -1, 7)):
            for got, want in zip(f(a, k, first), strided(a, k, first), strict=True):
                assert np.array_equal(got, want)
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        f(a, 0, None)


def rebound(a, n):
    s, t = 0, 0
    for x in a:
        a = a * 2
        s += x
    for i, x in enumerate(a):
        a = a[::-1] * x
        t += i * x
    for i, j in zip(range(n), range(n, 9), strict=False):
        n -= 1
        t += i * j
    for n, x in enumerate(a):
        t += n * x
    return s, t, a


def test_names_of_loops_that_their_bodies_bind(on):
    a = np.array([1, 2, 3])
    for got, want in zip(un.jit(rebound, device=on)(a, 5), rebound(a, 5), strict=True):
        assert np.array_equal(got, want)


def integers(n, k):
    return (
        (math.gcd(n, k), math.gcd(-n, 12, k), math.gcd(), math.lcm(n, k), math.lcm(n, -4, 6)),
        (math.factorial(k), math.comb(n, k), math.perm(n, k), math.comb(62, 31), math.isqrt(n)),
        (bin(n), hex(n), oct(n), bin(-n), hex(-n), oct(0), math.isqrt(2**63 - 1 - k)),
    )


def too_large(n):
    return math.factorial(n)


def test_functions_of_integers(on):
    f, g = un.jit(integers, device=on), un.jit(too_large, device=on)
    for n, k in ((37, 3), (12, 0), (2**20, 2), (0, 5), (5, 5)):
        assert f(n, k) == integers(n, k)
    assert g(20) == math.factorial(20)
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        g(21)
    with pytest.raises(ValueError, match="negative"):
        g(-1)


def list_indices(a, k):
    b = a.copy()
    b[[0, 2]] = 5
    b[:, [1, k]] += 1
    return a[[0, 2]], a[[2, k, 0], [1, 1, 0]], a[[True, False, True]], b


def splits(a, at):
    return np.split(a, [1, 3]), np.array_split(a, at), np.split(a, 2), np.array_split(a, 4)


def letters(s):
    return "".join(sorted(s)), sorted(s, reverse=True)


def test_lists_as_indices(on):
    a = np.arange(12.0).reshape(3, 4)
    for got, want in zip(un.jit(list_indices, device=on)(a, 2), list_indices(a, 2), strict=True):
        assert np.array_equal(got, want)
    f = un.jit(splits, device=on)
    for at in ((2, -1), [2, 5], np.array([1, 1]), 3):
        for got, want in zip(f(np.arange(6.0), at), splits(np.arange(6.0), at), strict=True):
            assert len(got) == len(want) and all(map(np.array_equal, got, want))
    assert un.jit(letters, device=on)("abcb,a") == letters("abcb,a")


def tuples_beside(x, m):
    return (
        (1, 0, 1) == np.bitwise_and((1, 0, 1), x),
        m + (1, 2, 3),
        [1.5, 2.0, 3.0] * m,
        m < [1, 2, 3],
    )


def lists_beside(x, m):
    return m * [2, 2, 2] + (m > (0, 1, 2)).any(), (1, 2, 3) - m, m @ (1.0, 2.0, 3.0)


def stored(x, m):
    f = np.zeros((4, 2))
    f[0] = f[-1] = 1, 2
    f[1], f[2] = (3, 4), [5, 6]
    f += (1, 2)
    f[:, 0] *= [1, 2, 3, 4]
    return (f,)


def joined(x, m):
    ends = np.concatenate((np.where(x)[0], [len(x)]))
    return np.concatenate(([1], np.diff(x))), ends, np.hstack([[0.5], m])


@pytest.mark.parametrize("function", [tuples_beside, lists_beside, stored, joined])
def test_tuples_and_lists_beside_arrays(on, function):
    x, m = np.array([1, 0, 3]), np.array([0.5, 1.5, 7], "float32")
    for got, want in zip(un.jit(function, device=on)(x, m), function(x, m), strict=True):
        assert np.asarray(got).tolist() == want.tolist()
        assert not want.shape or np.asarray(got).dtype == want.dtype
