"""Ordinary Python that compiled functions understand: methods, formats, stars, types that are asked for."""

import bisect
import copy
import functools
import math

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())


def outcome(function, args):
    try:
        return "gave", repr(function(*copy.deepcopy(args)))
    except Exception as error:
        return type(error).__name__, str(error)


def parts(s, sep):
    return s.partition(sep), s.rpartition(sep), s.index(sep), s.rindex(sep, 1)


def translated(s):
    return (
        s.translate(str.maketrans("abc", "xyz")),
        s.translate(str.maketrans("abc", "xyz", "l")),
        s.translate(str.maketrans({"l": "LL", "o": ""})),
        s.expandtabs(4),
    )


def number(s, base):
    return int(s, base)


def of_tuples(n):
    t = (3, 1, 2, 3)
    return t.count(3), t.index(2), t.index(3, 1), t.index(n), (1, "a", 2.0).index("a")


def whole(x):
    return x.is_integer(), (x / 2).is_integer()


def bits(n):
    return n.bit_count(), (n + 1).bit_count()


def percent(s, i, x):
    a = "%s %d %.3f" % (s, i, x), "%s" % s  # noqa: UP031
    return a, "%5s|%-5s|" % (s, s), "%r" % i, "%s!" % x  # noqa: UP031


def computed_formats(x, n, s, w, p):
    a = f"{x:{w}}|{x:{w}.{p}f}|{x:>+{w}.{p}e}|{n:0{w}d}|{s:*^{w}}|{s!r:>{w}}|{n!s:<{w}}|{n=}"
    return a, f"{x:.{p}%}", f"{n:{'x' if n > 3 else 'b'}}"


def stars(xs, ys):
    t = (7, 8)
    return [*xs, 5], [0.5, *ys], (*t, 1), [*xs, *t, *range(2)], sorted({*xs, 9, *t})


def stars_in_dicts(d):
    return {**d, "z": 9}, {"a": 0, **d}, {**d, "a": 5}


def first_of(xs, least):
    return (
        next((x for x in xs if x > least), -1),
        next(iter(xs), 0),
        next(i for i, x in enumerate(xs) if x == least),
    )


def types_of(a, b, c):
    n = 0
    if type(a) is int:
        n += 1
    if type(a) == bool:  # noqa: E721
        n += 2
    if type(b) is not float:
        n += 4
    if type(a) is type(b):
        n += 8
    if type(c) in (str, list):
        n += 16
    if type(c) not in (tuple, dict):
        n += 32
    return n


def ends(s):
    return s.startswith(("ab", "x")), s.endswith(("c", "")), s.startswith(("q", "b"), 1)


def extremes(xs):
    ys = [x for x in xs if x > 2]
    return (
        max(ys, default=0),
        min((x for x in ys), default=-1),
        max(ys, default=7, key=lambda x: -x),
    )


def of_pairs(ps):
    d = dict(ps)
    e = dict(d)
    e["q"] = 0
    return d, e, dict(sorted(ps)), dict(map(lambda p: (p[1], p[0]), ps))


def inserted(xs):
    bisect.insort(xs, 3)
    bisect.insort_left(xs, 1)
    bisect.insort(xs, 99)
    return xs


def powers(a, n, m):
    return pow(a, n, m)


def products(xs):
    return math.prod(xs), math.prod(xs, start=2.0)


def exact_sum(xs):
    return math.fsum(xs)


def distances(p, q):
    return math.dist(p, q), math.dist([1, 2], [4, 6]), math.hypot(*p), math.hypot(p[0])


def extreme_distances(x):
    tiny = math.hypot(1e-320, x * 1e-320, 1e-320)
    return math.hypot(x * 1e200, 4e200, 1.0), tiny, math.hypot(x, math.nan, math.inf)


def odd_distance(p):
    return math.dist(p, (1.0,))


def in_ranges(n, x):
    return n in range(2, 9, 3), n not in range(4), x in range(9), n + 1 in range(9, 0, -2)


def tuples_of_generators(p, q):
    d = tuple(a - b for a, b in zip(p, q))  # noqa: B905
    return d, tuple([2 * x for x in d]), tuple(map(abs, d)), tuple(i * i for i in range(3))


def mixed_tuples(p):
    steps = []
    for k in range(2):
        steps.append(tuple((x, k) for x in p))
    return steps, tuple(enumerate(p)), tuple(reversed(p))


@functools.lru_cache(maxsize=None)  # noqa: UP033
def ways(n, k):
    if n == 0:
        return 1
    if n < 0 or k == 0:
        return 0
    return ways(n - k, k) + ways(n, k - 1)


def remembered(n):
    return ways(n, n), ways(n + 1, n)


def keys_in_a_list(d):
    return [*d, "z"], [*d.values(), 1]


CASES = [
    (distances, (1.5, 2.0, -3.0), (0.5, 0.25, 1.0)),
    (extreme_distances, 3.0),
    (odd_distance, (1.0, 2.0)),
    (in_ranges, 5, 4.0),
    (in_ranges, 8, 4.5),
    (tuples_of_generators, (1.0, 2.0, 3.0), (0.5, 4.0, 1.0)),
    (tuples_of_generators, (1, 2.5), (0, 4)),
    (mixed_tuples, (1, 2.5, True)),
    (remembered, 60),
    (keys_in_a_list, {"a": 2, "b": 3}),
    *[(parts, s, sep) for s in ("a=b=c", "=", "abc", "é=ü", "==") for sep in ("=", "b", "")],
    (translated, "hello\tabc\n\tcab"),
    *[
        (number, s, base)
        for s in ("ff", "0x1f", "-0b11", " 12 ", "1_0", "zz", "", "9", "0o7", "٣")
        for base in (0, 2, 10, 16, 36, 1, 37)
    ],
    (number, "ffffffffffffffff", 8),
    (of_tuples, 1),
    (of_tuples, 9),
    *[(whole, x) for x in (3.0, 2.5, -4.0, 1e300, math.inf, math.nan, 0.0)],
    *[(bits, n) for n in (0, 1, -1, 255, 2**63 - 2, -(2**63))],
    (percent, "ab", 7, 2.5),
    *[
        (computed_formats, 3.14159, n, "ab", w, p)
        for n in (3, 300)
        for w in (1, 12)
        for p in (0, 3)
    ],
    (stars, [1, 2], [3.0]),
    (stars, [], [0.0]),
    (stars_in_dicts, {"a": 1, "b": 2}),
    *[(first_of, xs, 2) for xs in ([1, 2, 3], [2], [3, 3])],
    (types_of, 1, 2.0, "s"),
    (types_of, True, 1, [1]),
    (types_of, 1.5, 2.5, (1,)),
    *[(ends, s) for s in ("abc", "xb", "")],
    (extremes, [1, 5, 3]),
    (extremes, [1]),
    (of_pairs, [("x", 3), ("a", 1)]),
    (inserted, [1, 3, 3, 7]),
    *[
        (powers, a, n, m)
        for a in (7, -3, 2**62, 0)
        for n in (0, 5, 2**61, -1)
        for m in (1, 11, -11, 2**62 + 1, 0)
    ],
    (products, [1, 2, 3]),
    (products, [0.5, 4.0]),
    *[
        (exact_sum, xs)
        for xs in (
            [0.1] * 10,
            [1e100, 1.0, -1e100],
            [1e308, 1e308],
            [math.inf, 1.0],
            [math.inf, -math.inf],
            [math.nan, 1.0],
            [1.0, 2.0**-53, 2.0**-106],
            [1.0, 2.0**-53, -(2.0**-106)],
            [1e-16, 1.0, 1e16, -1e16],
        )
    ],
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0].__name__}-{c[1:]!r}"[:60])
def test_as_python(on, case):
    function, *args = case
    assert outcome(un.jit(function, device=on), args) == outcome(function, args)


def test_a_tuple_has_a_known_number_of_items(on):
    with pytest.raises(un.CompileError, match="how many items a tuple has must be known"):
        un.jit(lambda xs: tuple(x + 1 for x in xs), device=on)([1, 2])


def on_optional(n):
    x = None
    if n > 1:
        x = 2
    return type(x) is int


def test_the_type_of_what_may_be_none_is_not_known(on):
    with pytest.raises(un.CompileError, match="the type of what may be None is not known"):
        un.jit(on_optional, device=on)(3)


def test_the_extremes_of_what_a_dict_shows(on):
    @un.jit(device=on)
    def f(d):
        pair = max(d.items(), key=lambda item: (item[1], item[0]))
        return pair, min(d.values(), key=lambda v: -v), max(d.keys(), key=len)

    d = {"a": 2, "bcd": 1, "e": 2}
    assert f(d) == f.py_func(d) == (("e", 2), 2, "bcd")


def test_a_character_by_percent_is_a_text_or_a_number(on):
    @un.jit(device=on)
    def f(x, row):
        return "%c" % x, "%c%c|%3c|%-3c|" % (x, row[0], x, row[1])  # noqa: UP031

    for given in (("z", "ab"), (65, [66, 8364])):
        assert f(*given) == f.py_func(*given)


def of_its_own_kind(x):
    T = type(x)
    return T(1) / x, type(x)(3), T(x) * T(2)


def test_classes_of_values_are_called(on):
    f = un.jit(of_its_own_kind, device=on)
    for x in (
        2,
        2.0,
        True,
        1 + 2j,
        np.float32(2.5),
        np.int16(4),
        np.float64(2.5),
        np.complex64(1j),
    ):
        assert f(x) == of_its_own_kind(x)
    assert un.jit(lambda s: type(s)(12) + s, device=on)("!") == "12!"
    halves = un.jit(lambda a: np.full(2, 0.5, type(a[0]))[0] + type(a[0])(1), device=on)
    assert halves(np.ones(1, "float32")) == 1.5
    zeros = un.jit(lambda x: np.zeros(2, type(x)), device=on)
    for x in (1, 1.0, True, np.float32(1)):
        assert zeros(x).dtype == np.zeros(2, type(x)).dtype
    with pytest.raises(
        un.CompileError, match=r"type\(x\) is of numbers and text here; got .*array"
    ):
        un.jit(lambda a: type(a)(3), device=on)(np.ones(3))
