"""What programs that were written for Numba meet, against CPython: pairs and sets of any items, lists that a finally
changes, names that a try assigns, fields by the names of constants, searches in bytes."""

import copy

import numpy as np
import pytest
import unisono as un

RECORDS = np.zeros(3, [("a", "f8"), ("b", "i8"), ("c", "f8", (2,))])
RECORDS["a"], RECORDS["b"] = [1, 2, 3], [4, 5, 6]
FIELDS = ("a", "b")


def own_names(n):
    xs = list(range(n))
    return (
        [x for x in range(n)],
        [n for n in range(n)],
        [xs for xs in xs],
        sum(xs for xs in xs),
        {xs: 1 for xs in xs},
        [[n * y for n in range(n)] for n in range(n) for y in range(n)],
        [n for n in map(lambda n: 2 * n, [1, n])],
    )


def dicts_of_pairs(n):
    pairs = [(1, 2.0), (n, 4.0)]
    return (
        dict([("a", 1), ("b", n)]),
        dict(((1, 2), (n, 4))),
        dict(pairs),
        dict([(i, i * i) for i in range(n)]),
    )


def other_items(n):
    s = {1, 2, n}
    more = [2, 5]
    grown = s.copy()
    grown.update(more)
    grown.update(range(7, 9), (11, 12))
    less = s.copy()
    less.difference_update(more)
    both = s.copy()
    both.intersection_update(more)
    either = s.copy()
    either.symmetric_difference_update((1, 9))
    empty = set()
    empty.update(["x", "y"])
    letters = {"z"}
    letters.update("ab")
    return (
        grown,
        less,
        both,
        either,
        empty,
        letters,
        s.union(more, {20}),
        s.difference(more),
        s.intersection(more),
        s.symmetric_difference(more),
        s.issubset(more),
        s.issuperset([1]),
        s.isdisjoint((7, 8)),
    )


def more_entries(n):
    d = {1: 2.0}
    d.update([(n, 4.0)])
    d.update(zip([5], [6.0], strict=False))
    d.update({7: 8.0})
    return d


def changed_by_finally(n):
    log = [0]
    for i in range(n):
        try:
            log.append(i)
            if i == 1:
                return log, i
        finally:
            log.append(-i)
    return log, n


def given_by_finally(n):
    log = [n]
    try:
        return log
    finally:
        log.append(4)


def assigned_in_try(n):
    try:
        if n == 4:
            raise ValueError
        found = n * 2
        made = np.arange(n)
        for i in range(n):
            if i == 2:
                break
    except ValueError:
        print("none")
    return found, made, i


def wider_numbers(a, b):
    x = a
    if b > 3:
        x = b
    s = np.float32(0)
    for v in np.arange(3.0):
        s = s + v
    return x + 1, s


def fields(r):
    f, g = "a", "b"
    r[0][f] = 9
    r[g][1] = 7
    s = 0.0
    for name in ("a", "b"):
        s += r[0][name] + r[name][2]
    for name in FIELDS:
        s += r[1][name]
    for i, name in enumerate(FIELDS):
        r[name][i] = 5
    return s, r["a"].copy(), r["b"].copy()


def deleted_parts(xs, part):
    ys, zs, k = list(xs), list(xs), 0
    del ys[part]
    del zs[k]
    ts = [str(x) for x in xs]
    del ts[part]
    return ys, zs, ts


def leading_ones(a, b, c):
    a[:] = b
    a[0] = c
    a[1, :] = c
    return a


def flat_elements(a):
    return len(a.flat), sum(a.flat), max(a.flat), list(a.flat), sorted(a.flat)


def plain_keys(n):
    xs = [3, n, 2]
    ys = list(xs)
    ys.sort(key=None, reverse=True)
    return ys, sorted(xs, key=None)


def lists_of_two_kinds(n):
    a, b = [1, n], [1.0, float(n)]
    return a == b, a != b, a < b, a <= b, a < [1.0, n + 0.5], [1.5] > a, [1.0] < a, a == [1.0]


def places(n):
    xs = ["a", "b"]
    return [3, n].index(n), xs.index("b"), [1, 2, 1].index(1, 1)


def grids(n):
    a = np.zeros((7, 3))
    np.fill_diagonal(a, 1.0, wrap=True)
    return np.indices((2, n)), np.indices((n,)), np.ravel_multi_index((1, n), (2, n + 1)), a


def bytes_found(data, part):
    return (
        data.find(part),
        data.rfind(part),
        data.find(part, 6),
        data.find(part, -4, -1),
        data.find(111),
        data.index(part),
        data.count(part),
        data.count(b""),
        data.startswith(b" h"),
        data.endswith(b"x"),
    )


def bytes_made(data, part):
    upper, stripped, left = data.upper(), data.strip(), data.lstrip(b" h")
    changed, parted = data.replace(part, b"00"), data.replace(b"", b"-", 3)
    return upper.decode(), stripped.decode(), left.decode(), changed.decode(), parted.decode()


CALLS = [
    (own_names, (3,)),
    (dicts_of_pairs, (3,)),
    (other_items, (3,)),
    (more_entries, (3,)),
    (changed_by_finally, (4,)),
    (changed_by_finally, (1,)),
    (given_by_finally, (3,)),
    (assigned_in_try, (3,)),
    (assigned_in_try, (4,)),
    (wider_numbers, (np.int8(3), np.int16(500))),
    (wider_numbers, (np.uint8(250), np.int32(1))),
    (fields, (RECORDS,)),
    (deleted_parts, ([1, 2, 3, 4, 5], slice(1, 3))),
    (leading_ones, (np.zeros((2, 3)), np.full((1, 2, 3), 2.0), np.ones((1, 1, 3)))),
    (flat_elements, (np.arange(6.0).reshape(2, 3)[:, ::-1],)),
    (plain_keys, (1,)),
    (lists_of_two_kinds, (2,)),
    (places, (5,)),
    (grids, (3,)),
    (bytes_found, (b" hello world foo ", b"o")),
    (bytes_found, (bytearray(b"xoo"), b"oo")),
    (bytes_made, (b" hello world foo ", b"o")),
]


def outcome(function, args):
    try:
        return shown(function(*copy.deepcopy(args)))
    except Exception as error:
        return type(error), str(error).splitlines()[0]


def shown(value):
    """With the values of arrays and of numbers of NumPy's."""
    if isinstance(value, tuple | list):
        return type(value), [shown(v) for v in value]
    if isinstance(value, dict):
        return "dict", [(shown(k), shown(v)) for k, v in value.items()]
    if isinstance(value, set):
        return "set", sorted(map(repr, value))
    return value.tolist() if hasattr(value, "tolist") else value


@pytest.mark.parametrize(
    ("function", "args"), CALLS, ids=[f"{f.__name__}{i}" for i, (f, _) in enumerate(CALLS)]
)
def test_as_in_python(function, args):
    assert outcome(un.jit(nopython=True)(function), args) == outcome(function, args)


def test_items_that_are_missing():
    def index(xs, x):
        return xs.index(x)

    for xs, x, text in (
        ([1, 2], 9, "9 is not in list"),
        (["a"], "z", "list.index(x): x not in list"),
        (b"abc", b"z", "subsection not found"),
    ):
        with pytest.raises(ValueError, match="not ") as caught:
            un.jit(index)(xs, x)
        assert str(caught.value).splitlines()[0] == text


def test_axes_that_are_too_many():
    def store(a, b):
        a[:] = b

    with pytest.raises(ValueError, match="axis 0 has extent 2, the target has 1 axes"):
        un.jit(store)(np.zeros(3), np.zeros((2, 3)))


def test_arguments_that_are_tuples():
    def first(n):
        raise ValueError("bad", (n, 2), 3.5)

    def only(n):
        raise KeyError((n, "q"))

    def shown(n):
        try:
            raise KeyError(("a", n))
        except KeyError as e:
            return str(e)

    for f in (first, only):
        with pytest.raises((ValueError, KeyError)) as wanted:
            f(4)
        with pytest.raises(wanted.type) as caught:
            un.jit(f)(4)
        assert caught.value.args == wanted.value.args
    assert un.jit(shown)(4) == shown(4)
