"""Lists, comprehensions, texts of exceptions and small statements, against the Python functions."""

import numpy as np
import pytest
import unisono as un
from differential import result_or_error
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


def same(got, want):
    assert isinstance(got, (tuple, list)) == isinstance(want, (tuple, list))
    if isinstance(want, (tuple, list)):
        assert type(got) is type(want) and len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
    else:
        assert got == want or (got != got and want != want)
        assert isinstance(got, bool) == isinstance(want, (bool, np.bool_))


# ---- lists
def grows(n):
    xs = []
    for i in range(n):
        xs.append(i * i)
    return xs, len(xs), sum(xs)


def literal(x):
    xs = [1.5, x, 3]
    xs[1] += 2
    xs[-1] = 7.5
    return xs, xs[0], len(xs), max(xs), min(xs)


def pops(n):
    xs = [i for i in range(n)]
    a = xs.pop()
    b = xs.pop(0)
    xs.insert(1, 100)
    xs.insert(-1, 200)
    xs.extend([7, 8])
    xs += (9, 10)
    xs.reverse()
    return xs, a, b


def shares(n):
    a = [1, 2]
    b = a
    for i in range(n):
        b.append(i)
    return a, len(b)


def stack(n):
    todo = [n]
    steps = 0
    while todo:
        k = todo.pop()
        steps += 1
        if k > 1:
            todo.append(k // 2)
            todo.append(k // 3)
    return steps


def frontier(n):
    now = [0]
    levels = 0
    seen = 0
    while len(now) > 0 and levels < n:
        after = []
        for x in now:
            seen += x
            if x < 40:
                after.append(2 * x + 1)
                after.append(2 * x + 2)
        now = after
        levels += 1
    return levels, seen, now


def swaps(n):
    a = [1.0]
    b = [2.0, 3.0]
    for i in range(n):
        a.append(float(i))
        a, b = b, a
    return a, b


def branches(n):
    if n > 2:
        xs = [1, 2, 3]
    else:
        xs = [n]
    xs.append(9)
    return xs


def comprehensions(a, n):
    evens = [i for i in range(n) if i % 2 == 0]
    pairs = [i * j for i in range(3) for j in range(i)]
    doubled = [2 * x for x in a]
    best = max(x - 1 for x in a)
    return evens, pairs, doubled, sorted(-x for x in evens), best


def operators(n):
    xs = [1, 2] + [n]
    zeros = [0] * n
    ys = xs[1:] + xs[::-1]
    return xs, zeros, ys, ys.copy(), 3 in xs, 3 not in xs, list((n, 4)), [0.5, 1.0] * 2


def empty(n):
    xs = [1.5]
    xs.clear()
    return xs, len(xs), not xs


def out_of_range(n):
    xs = [1, 2, 3]
    return xs[n]


def pop_empty(n):
    xs = [1]
    xs.pop()
    return xs.pop()


def sorts(a):
    return sorted(a), sorted(a, reverse=True), sorted([3, 1, 2])


@un.jit
def makes_list(n):
    return [i + 0.5 for i in range(n)]


@un.jit
def reads_list(xs):
    s = 0.0
    for x in xs:
        s += x
    return s + xs[0]


def calls(n):
    xs = makes_list(n)
    xs.append(10.0)
    return xs, reads_list(xs)


def in_loop(n):
    total = 0
    for i in range(n):
        xs = [i]
        xs.append(i * 2)
        total += sum(xs) + len(xs)
    return total


CASES = [
    *[(grows, (n,)) for n in (0, 1, 8, 9, 100)],
    (literal, (2.5,)),
    *[(pops, (n,)) for n in (2, 5, 30)],
    (shares, (4,)),
    *[(stack, (n,)) for n in (1, 50)],
    *[(frontier, (n,)) for n in (0, 1, 3, 20)],
    *[(swaps, (n,)) for n in (0, 1, 4, 7)],
    *[(branches, (n,)) for n in (1, 5)],
    (comprehensions, (np.array([1.5, -2, 3]), 7)),
    *[(operators, (n,)) for n in (3, 5)],
    (empty, (1,)),
    *[(out_of_range, (n,)) for n in (0, -3)],
    (pop_empty, (0,)),
    (sorts, (np.array([3.5, -1, 2, 2, 0, 9, -1]),)),
    *[(calls, (n,)) for n in (1, 20)],
    (in_loop, (5,)),
]


@pytest.mark.parametrize(("function", "args"), CASES, ids=[f"{f.__name__}{a}" for f, a in CASES])
def test_lists(function, args, on):
    same(result_or_error(un.jit(function, device=on), *args), result_or_error(function, *args))


@pytest.mark.parametrize("n", [3, -4])
def test_an_index_out_of_range(n, on):
    with pytest.raises(IndexError):
        un.jit(out_of_range, device=on)(n)


def test_lists_in_parallel_iterations(on):
    def f(out):
        for i in un.prange(out.shape[0]):
            xs = [i]
            for k in range(i):
                xs.append(k)
            out[i] = sum(xs)

    got, want = np.zeros(40), np.zeros(40)
    un.jit(f, device=on)(got)
    f(want)
    assert np.array_equal(got, want)


def test_array_of_list(on):
    def f(n):
        return np.array([i * 0.5 for i in range(n)])

    assert np.array_equal(np.asarray(un.jit(f, device=on)(5)), f(5))


# ---- tuples
def tuple_loop(t):
    s = 0
    for x in t:
        s += x
    return s, t[1:], t[::-1], 3 in t


def tuple_index(t, i):
    return t[i]


# ---- texts
def raises(n, x):
    if n == 0:
        raise ValueError(f"n is {n}, x is {x}, {n > 1}")
    if n == 1:
        raise IndexError(f"{x:.3f} and {n:05d}")
    if n == 2:
        raise TypeError(f"{{braces}} {x!r}")
    if n == 3:
        raise RuntimeError("plain {0} text")
    if n == 4:
        raise AssertionError(f"n={n}")
    return n


# ---- small statements
def walrus(n):
    if (m := n * 2) > 4:
        return m
    while (n := n - 1) > 0:
        m += n
    return -m


def deletes(n):
    x = n + 1
    y = x * 2
    del x
    x = y + 0.5
    return x


MORE = [
    (tuple_loop, ((1, 2, 3),)),
    (tuple_loop, ((1, 2.5),)),
    *[(tuple_index, ((4, 5, 6), i)) for i in (0, 2, -1, -3, 3, -4)],
    *[(raises, (n, 2.5)) for n in range(6)],
    *[(walrus, (n,)) for n in (0, 2, 3, 9)],
    (deletes, (3,)),
]


@pytest.mark.parametrize(("function", "args"), MORE, ids=[f"{f.__name__}{a}" for f, a in MORE])
def test_small_things(function, args, on):
    same(result_or_error(un.jit(function, device=on), *args), result_or_error(function, *args))


# ---- types and rounding
def kind(x):
    if isinstance(x, bool):
        return 0
    if isinstance(x, (int, list)):
        return 1
    if isinstance(x, float):
        return x * 2 if x > 1 else 2.0
    return (7, x)


def rounds(x):
    return round(x), round(-x), round(x + 0.5)


def maps(a, n):
    squares = list(map(lambda x: x * x, a))
    sums = list(map(lambda x, k: x + k, a, range(n)))
    large = list(filter(lambda x: x > 1, a))
    s = 0.0
    for x in map(abs, a):
        s += x
    return squares, sums, large, s


TYPES = [
    *[(kind, (x,)) for x in (True, 3, 2.5, 0.5, (1, 2))],
    *[(rounds, (x,)) for x in (0.5, 1.5, 2.4, -7.75, 3, float("nan"))],
    (maps, (np.array([1.5, -2, 3]), 2)),
]


@pytest.mark.parametrize(("function", "args"), TYPES, ids=[f"{f.__name__}{a}" for f, a in TYPES])
def test_types(function, args, on):
    same(result_or_error(un.jit(function, device=on), *args), result_or_error(function, *args))


def tuples_compared(a, b):
    return a == b, a != b, a < b, a <= b, a > b, a >= b


def starred(a, b, c, d):
    first, *rest = (a, b, c, d)
    *front, last = (b, c, d)
    x, *middle, y = (a, b, c)
    p, *none = (d,)
    return first, rest, front, last, x, middle, y, p, len(none)


def by_key(xs, n):
    near = sorted(xs, key=lambda x: abs(x - n))
    parity = sorted(xs, key=lambda x: x % 2, reverse=True)
    return near, parity, sorted(near, reverse=True), sorted((3, n, 1), key=lambda x: -x)


FORMS = [
    *[
        (tuples_compared, (a, b))
        for a in ((1, 2), (1, 2.5), (0, 9), (1,), ())
        for b in ((1, 2), (1, 3), (1,), (2, 0, 0))
    ],
    (starred, (1, 2, 3, 4)),
    (starred, (1.5, 2.5, -3.0, 4.0)),
    *[(by_key, ([5, 3, 8, 1, 9, 2, 2, 7, 4][:k], 4)) for k in range(1, 10)],
]


@pytest.mark.parametrize(("function", "args"), FORMS, ids=[f"{f.__name__}{a}" for f, a in FORMS])
def test_forms_of_tuples_and_lists(function, args, on):
    same(result_or_error(un.jit(function, device=on), *args), result_or_error(function, *args))


def joined_with_floats(n):
    a = [0] + [float("inf")] * n
    a[1] = 2.5
    return a, [1.5] + [2]


def pairs_or_nothing(n):
    if n == 0:
        return []
    return [(i, i * 0.5) for i in range(n)]


def texts_or_nothing(n):
    if n > 1:
        return ["a"] * n, n
    return [], 0


def floats_or_nothing(n):
    if n == 0:
        return []
    elif n == 1:
        return [0.5]
    return []


def table_or_nothing(n):
    if n == 0:
        return {}
    return {i: str(i) for i in range(n)}


@pytest.mark.parametrize(
    "function, calls",
    [
        (joined_with_floats, [(2,)]),
        (pairs_or_nothing, [(0,), (2,)]),
        (texts_or_nothing, [(0,), (2,)]),
        (floats_or_nothing, [(0,), (1,), (2,)]),
        (table_or_nothing, [(0,), (2,)]),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_empty_and_other_lists_on_other_paths(function, calls, on):
    compiled = un.jit(function, device=on)
    for args in calls:
        assert compiled(*args) == function(*args)


def test_membership_in_matrices(on):
    found = un.jit(lambda x, a: (x in a, x in a[1:], 9 not in a), device=on)
    a = np.arange(12).reshape(2, 3, 2)
    assert found(3, a) == (True, False, False)
    assert found(20, a) == (False, False, False)
    with pytest.raises(un.CompileError, match="'in' looks into tuples, lists and arrays with axes"):
        found(1, np.array(3))


def places(xs, x, begin, end):
    xs = [v for v in xs]
    return xs.index(x, begin), xs.index(x, begin, end)


@pytest.mark.parametrize("begin, end", [(0, 9), (1, 4), (-3, -1), (-9, 2), (2, 0), (4, 9)])
def test_index_between_bounds(on, begin, end):
    xs = [3, 1, 3, 4, 3]
    want = result_or_error(places, xs, 3, begin, end)
    got = result_or_error(un.jit(places, device=on), xs, 3, begin, end)
    assert got == want or (got[0] is ValueError and want[0] is ValueError)
