"""Iterators held in names, next of them, and zip with generators that never end."""

import copy
import itertools
import types

import pytest
import unisono as un
from jit_devices import all_devices, far_devices

pytestmark = pytest.mark.parametrize("on", all_devices())


@un.jit
def squares(n):
    for i in range(n):
        yield i * i


@un.jit
def naturals():
    n = 0
    while True:
        yield n
        n += 1


def largest(xs):
    it = iter(xs)
    best = next(it)
    for x in it:
        if x > best:
            best = x
    return best, next(it, -1)


def pairs(xs):
    it = iter(xs)
    made = []
    for x in it:
        y = next(it, 0)
        made.append((x, y))
        if x > 90:
            break
    else:
        made.append((-1, -1))
    return made, list(it), sum(it)


def counted(n):
    g = squares(n)
    a = next(g)
    b = next(g)
    return a, b, sum(g), next(g, -1)


def until_stopped(n):
    g = (i * 0.5 for i in range(n) if i % 2)
    total = 0.0
    while True:
        try:
            total += next(g)
        except StopIteration:
            break
    return total, [x for x in g]


def zipped(n):
    a = [(x, k) for x, k in zip(squares(n), naturals())]  # noqa: B905
    b = []
    for k, x, c in zip(naturals(), squares(n), "abcdef"):  # noqa: B905
        if k == 1:
            continue
        if k == 4:
            break
        b.append((k, x, c))
    return a, b


def texts(xs):
    it = iter(xs)
    return next(it) + next(it), "".join(list(it))


def talking(n):
    for i in range(n):
        print("before", i)
        yield
    print("end")


def bare_yields(n):
    it = talking(n)
    next(it)
    print("between")
    return [x is None for x in it], next(it, 5)


def some_none(n):
    def numbers(k):
        last = None
        for i in range(k):
            print(i)
            yield last
            last = i if i % 2 else None

    it = numbers(n)
    return [-1 if x is None else x for x in it]


def looked_up(n):
    def values(d, k):
        for i in range(k):
            print(i)
            yield d.get(i)

    it = values({1: 10}, n)
    return next(it), list(it)


def place_of(xs, k):
    for i in range(len(xs)):
        if xs[i] == k:
            return i


def found_or_not(xs, wanted):
    found = (place_of(xs, k) for k in wanted)
    first = next(found)
    return first, next(found), list(found)


def items_that_are_none(xs):
    items = iter(xs)
    return next(items), next(items), [x is None for x in items]


def taken_within(xs):
    pairs = iter(xs)
    table = iter(xs)
    halves = (x * 2 for x in xs)
    made = [(x, next(pairs, -1)) for x in pairs]
    return made, {x: next(table, -1) for x in table}, sum(x - next(halves, 0) for x in halves)


def stopped_early(xs, wanted):
    a = iter(xs)
    b = iter(xs)
    c = iter(xs)
    some, every = any(x == wanted for x in a), all(x != wanted for x in b)
    return some, list(a), every, list(b), next((x for x in c if x == wanted), -1), list(c)


def in_order(text, parts):
    letters = iter(text)
    return all(any(c == part for c in letters) for part in parts)


def endless_within(n):
    numbers = itertools.count(n)
    return [(x, next(numbers)) for x in range(n)], next(x for x in numbers if x % 7 == 0)


def scaled(items):
    for x in items:
        yield 3 * x


def first_of(items, n):
    for k, x in enumerate(items):
        if k >= n:
            return
        yield x


def again_and_again(items):
    for _ in range(2):
        for x in items:
            yield x + 1


def one_by_one(items):
    for x in items:
        yield x
        break
    for x in items:
        yield -x
        break


def passed_on(n):
    chained = list(first_of(scaled(naturals()), n)), sum(first_of((2 * x for x in naturals()), n))
    return chained, list(again_and_again(squares(n))), list(one_by_one(naturals()))


def expressions_of_endless(n):
    a, b = [], []
    for x in (x * x for x in naturals() if x % 2):
        if x > n:
            break
        a.append(x)
    for x in map(lambda x: x + n, naturals()):
        if x > 2 * n:
            break
        b.append(x)
    else:
        b.append(-1)
    return a, b


CASES = [
    (taken_within, [3, 1, 4, 1, 5]),
    (taken_within, [3, 1]),
    (stopped_early, [3, 1, 4, 1, 5], 4),
    (stopped_early, [3, 1], 4),
    (in_order, "abcde", "ace"),
    (in_order, "abcde", "aec"),
    (endless_within, 4),
    (passed_on, 3),
    (expressions_of_endless, 30),
    (found_or_not, [1, 2, 3], [2, 9, 3, 8]),
    (items_that_are_none, [None, 2, None]),
    (bare_yields, 3),
    (some_none, 6),
    (looked_up, 3),
    (texts, ["a", "c", "b"]),
    (largest, [3, 1, 4]),
    (largest, []),
    (pairs, [1, 2, 3]),
    (pairs, [1, 99, 98, 2, 3, 4]),
    (counted, 5),
    (counted, 1),
    (until_stopped, 6),
    (zipped, 3),
    (zipped, 8),
]


def outcome(function, args):
    try:
        return repr(function(*copy.deepcopy(args)))
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0].__name__}-{c[1:]!r}")
def test_as_python(on, case):
    function, *args = case
    if function is until_stopped and on in far_devices():
        pytest.skip("devices catch no exceptions")
    assert outcome(un.jit(function, device=on), args) == outcome(python(function), args)


def python(function):
    """The function with Python's generators."""
    scope = {**globals(), "squares": squares.py_func, "naturals": naturals.py_func}
    return types.FunctionType(function.__code__, scope)


def given_away(xs):
    it = iter(xs)
    return len(list(zip(it, it)))  # noqa: B905


def both_endless(n):
    for a, b in zip(naturals(), naturals()):  # noqa: B905
        if a > n:
            return b


def test_refused(on):
    with pytest.raises(un.CompileError, match="this use of an endless iterator is not supported"):
        un.jit(both_endless, device=on)(3)
    with pytest.raises(
        un.CompileError, match=r"an iterator as a value of its own is not supported"
    ):
        un.jit(given_away, device=on)([1, 2])
