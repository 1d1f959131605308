"""dict and set in compiled functions, against the Python functions."""

import copy

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


def shown(value):
    """With the order of dicts; that of sets is nobody's business."""
    if isinstance(value, dict):
        return "dict", [(shown(k), shown(v)) for k, v in value.items()]
    if isinstance(value, tuple | list):
        return type(value), [shown(v) for v in value]
    if isinstance(value, set):
        return "set", sorted(map(repr, value))
    if hasattr(value, "tolist") and hasattr(value, "shape"):
        return "array", value.tolist()
    return type(value), value


def outcome(function, args):
    args = copy.deepcopy(args)
    try:
        value = shown(function(*args))
    except Exception as error:
        value = type(error), str(error), error.args
    return value, shown(args)


def compiled(on, function):
    return un.jit(function, device=on)


def count(items):
    d = {}
    for x in items:
        if x in d:
            d[x] += 1
        else:
            d[x] = 1
    return d


def letters(s):
    d = {}
    for c in s:
        d[c] = d.get(c, 0) + 1
    return d, len(d), "a" in d, "z" not in d


def entries(n):
    d = {1: 2.5, 2: 3.0, 5: 1.0}
    del d[2]
    d[n] = 4.0
    total = 0.0
    for k in d:
        total += k * d[k]
    for k, v in d.items():
        total += v + k
    for v in d.values():
        total *= v
    e = d
    e[0] = -1.5
    return d, len(d), total, 5 in d, 2 in d, sum(d.values()), list(d), max(d.values()), e is d


def grown(n):
    d = {}
    for i in range(n):
        d[i * 7 % 1000] = i
        if i % 3 == 0 and i * 7 % 1000 - 7 in d:
            del d[i * 7 % 1000 - 7]
    return d, sorted(d), reversed_keys(d)


@un.jit
def reversed_keys(d):
    found = [0]
    for k in reversed(d):
        found.append(k)
    return found


def tuples(n):
    d = {}
    for i in range(n):
        d[i % 3, i % 2 == 0] = (i, float(i), "x" * i)
    total = 0.0
    for (a, b), (i, x, s) in d.items():
        total += a * b + i + x + len(s)
    return d, total, d.pop((0, True)), d.pop((9, True), (1, 2.0, "z")), (1, False) in d


def floats(x):
    d = {0.0: 1, x: 2}
    d[-0.0] = 3
    return d, x in d, 1 in d


def missing(d, k):
    return d[k]


def missing_parts(k):
    d = {(1, "a"): 1}
    return d[k, "b"]


def missing_pop(d, k):
    del d[k]
    return d.pop(k)


def caught(d, k):
    try:
        return d[k]
    except KeyError as error:
        return "no " + str(error)


def stored(d, k, x):
    d[k] = x
    return len(d)


def same(d):
    d.update({"new": 5})
    return d, d


def inner(d):
    n = 0
    for name in d:
        part = d[name]
        for k in part:
            part[k] += 1
            n += part[k]
    return n


def comprehensions(n):
    d = {i: i * i for i in range(n) if i % 2 == 0}
    e = {str(k): v for k, v in d.items()}
    return d, e, dict(a=1, b=2), dict(zip((1, 2, 3), (4.0, 5.0, 6.0))), dict(d), dict()  # noqa: B905


def sets(n):
    s = {1, 2, 3}
    t = set()
    for i in range(n):
        t.add(i % 5)
    s.discard(99)
    s.remove(1)
    u = {i * i for i in range(n)}
    v = set([i % 3 for i in range(n)])
    both = s | t, s & t, s - t, s ^ t, s.union(t), s.intersection(t), s.difference(t)
    tests = len(t), 3 in t, s <= t, s < s, s == s, s != t, s.isdisjoint({100}), s.issubset({2, 3})
    return both, tests, u, v, set("hello") == set("ehlo")


def set_changes(n):
    s = {1, 2, 3}
    s |= {4, n}
    s -= {1}
    s ^= {3, 5}
    s &= {2, 4, 5, n}
    t = s.copy()
    t.add(77)
    s.update({8})
    total = 0
    for x in s:
        total += x
    if not t.isdisjoint(s):
        t.clear()
    return s, t, total, bool(t), sum(s), min(s), sorted(s)


def nested(n):
    d = {}
    g = {}
    for i in range(n):
        d.setdefault(i % 3, {})[i] = i * 0.5
        g.setdefault(str(i % 2), set()).add(i)
    return d, g, d[0] == d[1], d[0] == {0: 0.0, 3: 1.5, 6: 3.0}


def arrays(n, a):
    d = {}
    for i in range(n):
        d[i] = np.zeros(3) + i
    d[0][1] = 5.0
    d[1] += 2
    d[2] = a
    a[0] = 9.0
    d[1] = d[1] * 2
    last = d.pop(0)
    return d, d[1] + last, last[:2]


def resized(n):
    d = {1: 1, 2: 2}
    for k in d:
        d[k + n] = 1
    return d


def resized_set(n):
    s = {1, 2}
    for x in s:
        s.discard(x)
        s.discard(x + n)
    return s


def on_paths(x):
    if x > 0:
        d = {}
    else:
        d = {"a": 1.5}
    d["b"] = x * 0.5
    for _ in range(2):
        if x > 1:
            d = {"again": 1.0}
    return d


def declared(n):
    d: dict[str, int] = {}
    s: set[float] = set()
    fill(d, n)
    return d, s, not d, bool(s)


@un.jit
def fill(d, n):
    for i in range(n):
        d[str(i)] = i


def updates(n):
    d = {1: 2}
    e = {3: n, 1: 5}
    d.update(e)
    f = d | e
    d |= {7: 8}
    equal = d == f
    item = d.popitem()
    c = d.copy()
    c.clear()
    e.clear()
    return d, f, equal, item, c, d != c, d.setdefault(3, 9), d.setdefault(4, 9), e == c


def messages(n):
    d = {"a": (n, 1.5), "b": (2, 2.5)}
    raise ValueError(f"bad {d} and { {n} }")


def popped(n):
    s = {n}
    first = s.pop()
    return first, s.pop()


def empty_item(d):
    return d.popitem()


CASES = [
    (count, ([1, 2, 1, 3],)),
    (count, ([1.5, 2.5, 1.5],)),
    (count, ("abca",)),
    (letters, ("banana",)),
    (entries, (7,)),
    (entries, (1,)),
    (grown, (5000,)),
    (tuples, (7,)),
    (floats, (1.5,)),
    (missing, ({"a": 1}, "b")),
    (missing, ({"a": 1}, "a")),
    (missing, ({1: "one"}, 2)),
    (missing, ({1.5: "one"}, 2.5)),
    (missing, ({True: "one"}, False)),
    (missing_parts, (5,)),
    (missing_pop, ({1: 2, 3: 4}, 3)),
    (caught, ({"a": "yes"}, "a")),
    (caught, ({"a": "yes"}, "b")),
    (stored, ({"a": 1}, "b", 2)),
    (stored, ({}, "b", 2.5)),
    (stored, ({}, (1, 2), "x")),
    (same, ({"old": 1},)),
    (inner, ({"a": {1: 2, 2: 3}, "b": {4: 5}},)),
    (comprehensions, (6,)),
    (sets, (9,)),
    (set_changes, (9,)),
    (nested, (8,)),
    (arrays, (4, np.arange(3.0))),
    (resized, (10,)),
    (resized_set, (1,)),
    (on_paths, (1,)),
    (on_paths, (-1,)),
    (on_paths, (2,)),
    (declared, (3,)),
    (updates, (6,)),
    (messages, (4,)),
    (popped, (3,)),
    (empty_item, ({1: 2},)),
    (empty_item, ({},)),
]


@pytest.mark.parametrize(("function", "args"), CASES, ids=lambda c: getattr(c, "__name__", None))
def test_as_in_python(on, function, args):
    want = outcome(function, args)
    assert outcome(compiled(on, function), args) == want
    assert un._engine._live_tables() == 0


def test_the_object_that_was_passed_comes_back(on):
    d = {"old": 1}
    s = {1, 2}
    first, second = compiled(on, same)(d)
    assert first is d and second is d and d == {"old": 1, "new": 5}
    assert compiled(on, lambda_free_add)(s) is s and s == {1, 2, 3}


def lambda_free_add(s):
    s.add(3)
    return s


def test_changes_before_an_exception_stay(on):
    d = {"a": 1}
    with pytest.raises(KeyError, match="gone"):
        compiled(on, stored_and_missing)(d)
    assert d == {"a": 2}


def stored_and_missing(d):
    d["a"] = 2
    return d["gone"]


def test_a_number_of_an_array_is_a_key_of_pythons_kind(on):
    got = compiled(on, count)(np.array([3, 3, 4], dtype=np.int32))
    assert got == {3: 2, 4: 1} and all(type(k) is int for k in got)


def test_the_float_that_is_stored_later_counts(on):
    got = compiled(on, widened)(3)
    assert got == {0: 0.5, 1: 1.5, 2: 2.5} and all(type(v) is float for v in got.values())


def widened(n):
    d = {}
    for i in range(n):
        d[i] = i
    for i in range(n):
        d[i] += 0.5
    return d


def test_lookups_in_a_parallel_loop(on):
    d = {i * i: float(i) for i in range(100)}
    out = np.zeros(1000)
    compiled(on, look_up)(d, out)
    want = np.array([d.get(i, -1.0) + (d[i] if i in d else 0.0) for i in range(1000)])
    assert np.array_equal(out, want)


def look_up(d, out):
    for i in un.prange(out.shape[0]):
        out[i] = d.get(i, -1.0)
        if i in d:
            out[i] += d[i]


def test_many_tables_are_given_back(on):
    assert compiled(on, make_many)(2000) == 2000 * 10
    assert un._engine._live_tables() == 0
    with pytest.raises(KeyError):
        compiled(on, make_many)(-1)
    assert un._engine._live_tables() == 0


def make_many(n):
    total = 0
    for _ in range(abs(n)):
        d = {}
        for k in range(10):
            d[k] = np.ones(2)
        total += len(d)
        if n < 0:
            del d[99]
    return total


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({1: 2, "a": 3}, "a dict with entries of several types"),
        ({1: 2, 3: 4.5}, "a dict with entries of several types"),
        ({1: object()}, "a dict with values such as object"),
        ({b"a"}, "a set with keys such as bytes"),
    ],
)
def test_what_cannot_be_passed(on, given, text):
    with pytest.raises(TypeError, match=text):
        compiled(on, len_of)(given)


def len_of(d):
    return len(d)


def test_a_key_beyond_64_bits(on):
    with pytest.raises(OverflowError):
        compiled(on, len_of)({2**70: 1})
    assert un._engine._live_tables() == 0
