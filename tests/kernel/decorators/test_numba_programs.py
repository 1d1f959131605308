"""Small programs as users of Numba write them: NumPy's functions, random numbers, generators, mixed tuples."""

import importlib

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices
from unisono._jit import overload, random_library
from unisono.typed import Dict, List

pytestmark = pytest.mark.parametrize("on", host_devices())


def compiled(on, function):
    return un.jit(function, device=on)


def shown(value):
    if isinstance(value, (tuple, list)):
        return [shown(v) for v in value]
    return np.asarray(value).tolist() if not isinstance(value, (str, dict)) else value


A = np.array([3.0, 1.0, 2.0, 2.0, 7.5])
B = np.array([1, 0, 1, 4, 1])
N = np.array([1.0, np.nan, 3.0])

FUNCTIONS = {
    "diff": (lambda a, b, n: (np.diff(a), np.diff(a, 2), np.ediff1d(b))),
    "unique": (lambda a, b, n: (np.unique(a), np.unique(b))),
    "median": (lambda a, b, n: (np.median(a), np.median(a[:4]), np.median(n))),
    "quantile": (
        lambda a, b, n: (np.quantile(a, 0.3), np.percentile(a, 50), np.percentile(a, 90.0))
    ),
    "searchsorted": (
        lambda a, b, n: (
            np.searchsorted(np.sort(a), 2.0),
            np.searchsorted(np.sort(a), 2.0, side="right"),
            np.searchsorted(np.sort(a), a),
        )
    ),
    "digitize": (lambda a, b, n: (np.digitize(a, np.array([1.0, 2.0, 5.0])),)),
    "bincount": (lambda a, b, n: (np.bincount(b), np.bincount(b, a), np.bincount(b, minlength=7))),
    "interp": (
        lambda a, b, n: (np.interp(1.5, np.sort(a), a), np.interp(a, np.array([0.0, 4.0]), a[:2]))
    ),
    "isin": (lambda a, b, n: (np.isin(b, np.array([1, 4])),)),
    "argwhere": (lambda a, b, n: (np.argwhere(b > 0),)),
    "close": (
        lambda a, b, n: (
            np.isclose(a, a + 1e-9),
            np.allclose(a, a),
            np.array_equal(a, b),
            np.array_equal(b, b),
        )
    ),
    "nan": (lambda a, b, n: (np.nansum(n), np.nanmean(n), np.nanmin(n), np.nanmax(n))),
    "append": (
        lambda a, b, n: (np.append(a, b), np.append(a, 4.0), np.delete(a, 1), np.delete(a, -1))
    ),
    "average": (lambda a, b, n: (np.average(a), np.average(b), np.average(a, weights=b))),
    "tile": (lambda a, b, n: (np.tile(a, 3),)),
    "cross": (lambda a, b, n: (np.cross(a[:3], a[2:]),)),
    "kron": (lambda a, b, n: (np.kron(a[:2].reshape(1, 2), b[:4].reshape(2, 2)),)),
    "kron_of_vectors": (lambda a, b, n: (np.kron(a[:2], b[:3]),)),
    "kron_of_a_vector": (
        lambda a, b, n: (np.kron(a[:2], b[:4].reshape(2, 2)), np.kron(b[:4].reshape(2, 2), a[:2]))
    ),
    "trapezoid": (lambda a, b, n: (np.polyval(a, 2.0), np.polyval(b, a))),
    "convolve": (lambda a, b, n: (np.convolve(b, b), np.convolve(b, a[:2]))),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_numpy(on, name):
    f = FUNCTIONS[name]
    got = compiled(on, f)(A, B, N)
    np.testing.assert_equal(shown(got), shown(f(A, B, N)))


def test_all_names_are_known(on):
    for names, page in overload._numpy_pages:
        known = importlib.import_module(page, overload.__package__).implementations
        assert {n for n in known if hasattr(np, n)} == names, page
    assert set(random_library.implementations) == overload._of_random


def monte_carlo(n):
    np.random.seed(7)
    inside = 0
    for _ in range(n):
        x = np.random.random()
        y = np.random.uniform(-1.0, 1.0)
        if x * x + y * y < 1.0:
            inside += 1
    return inside


def draws(n):
    np.random.seed(3)
    a = np.random.rand(n)
    b = np.random.randn(2, 3)
    c = np.random.randint(0, 10, n)
    d = np.random.normal(1.0, 2.0)
    e = np.random.randint(5)
    f = np.random.exponential(2.0)
    g = np.arange(n)
    np.random.shuffle(g)
    return a, b, c, d, e, f, g


def test_random_numbers_are_numpys(on):
    assert compiled(on, monte_carlo)(500) == monte_carlo(500)
    got, want = compiled(on, draws)(8), draws(8)
    np.testing.assert_allclose(
        [np.asarray(v).ravel()[0] for v in got], [np.ravel(v)[0] for v in want]
    )
    for k in (0, 2, 4, 6):
        assert np.asarray(got[k]).tolist() == np.asarray(want[k]).tolist()


@un.njit
def countdown(n, step=1):
    while n > 0:
        yield n
        n -= step


@un.njit
def pairs(n):
    for i in range(n):
        for j in range(i):
            yield i, j


def sums(n):
    s = 0
    for x in countdown(n):
        s += x
    for x in countdown(n, step=2):
        if x == 4:
            continue
        s += 100 * x
    for i, j in pairs(n):
        if i + j > 5:
            break
        s += i * j
    return s, [x * 2 for x in countdown(3)], sum(x for x in countdown(4))


def test_generators(on):
    def python(n):
        scope = {"countdown": countdown.py_func, "pairs": pairs.py_func}
        s = sum(scope["countdown"](n)) + sum(100 * x for x in scope["countdown"](n, 2) if x != 4)
        for i, j in scope["pairs"](n):
            if i + j > 5:
                break
            s += i * j
        return s, [6, 4, 2], 10

    for n in (0, 1, 7):
        assert compiled(on, sums)(n) == python(n)


def mixed(t):
    n = 0
    for x in t:
        if isinstance(x, str):
            n += len(x)
        elif isinstance(x, tuple):
            n += 10 * len(x)
        else:
            n += int(x)
    for i, x in enumerate(t):
        if not isinstance(x, (str, tuple)):
            n += 100 * i
    return n


@un.njit
def add_one(x):
    return x + 1


@un.njit
def double(x):
    return 2 * x


def chained(fs, x):
    for f in fs:
        x = f(x)
    return x


def test_tuples_of_several_types(on):
    t = (1, "abc", (1, 2), 2.5)
    assert compiled(on, mixed)(t) == mixed(t)
    assert compiled(on, chained)((add_one, double, add_one), 3) == 9


# ruff: noqa: UP031, UP032
def texts(n, x, name):
    return (
        "%d of %s: %.2f%%" % (n, name, x),
        "%5d|%-5d|%05d|%+d" % (n, n, n, n),
        "%8.3f|%-8.1e|%x" % (x, x, n),
        "{} {:.1f} {name}".format(n, x, name=name),
        "{1}{0}{1!r}".format(n, name),
        round(x, 2),
        round(n, 2),
    )


def ranges(n):
    inside = [i in range(2, n) for i in (1, 2, n)]
    return list(range(n)), sum(range(1, n)), max(range(n)), len(range(3, n)), inside


def extremes(xs):
    return (
        max(xs, key=lambda v: -v),
        min(xs, key=lambda v: -v),
        sorted(zip(xs, range(len(xs)), strict=False)),
    )


def number_lists():
    a = [3, 1, 2, 1]
    a.sort()
    b = [2.5, -1.0]
    b.sort(reverse=True)
    a.remove(2)
    return a, b, a.index(3), a.count(1)


def indices(n, m):
    a = np.zeros((n, m))
    for i, j in np.ndindex(n, m):
        a[i, j] = 10 * i + j
    return a


def typed():
    d = Dict.empty(str, float)
    d["a"] = 1.5
    xs = List()
    xs.append(2)
    return d, xs


@pytest.mark.parametrize(
    "function, args",
    [
        (texts, (42, 2.675, "ab")),
        (ranges, (6,)),
        (extremes, ([3, 1, 2],)),
        (number_lists, ()),
        (typed, ()),
    ],
)
def test_forms(on, function, args):
    assert compiled(on, function)(*args) == function(*args)


def test_indices(on):
    assert np.asarray(compiled(on, indices)(2, 3)).tolist() == indices(2, 3).tolist()


def test_typed_containers_from_python(on):
    def push(xs, d):
        xs.append("c")
        d["n"] = len(xs)

    xs, d = List(["a"]), Dict.empty(key_type=str, value_type=int)
    compiled(on, push)(xs, d)
    assert xs == ["a", "c"]
    assert d == {"n": 2}
