"""Compiled functions that call each other in a circle, compared with CPython."""

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())

COUNTS = [1, 2]
TABLE = np.arange(3.0)
LAST = 2


def is_even(n):
    return n == 0 or is_odd(n - 1)


def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


def calculate(text):
    return expression(text, 0)[0]


def expression(text, i):
    value, i = term(text, i)
    while i < len(text) and text[i] in "+-":
        operator = text[i]
        other, i = term(text, i + 1)
        value = value + other if operator == "+" else value - other
    return value, i


def term(text, i):
    value, i = factor(text, i)
    while i < len(text) and text[i] in "*/":
        operator = text[i]
        other, i = factor(text, i + 1)
        value = value * other if operator == "*" else value / other
    return value, i


def factor(text, i):
    if text[i] == "(":
        value, i = expression(text, i + 1)
        return value, i + 1
    j = i
    while j < len(text) and (text[j].isdigit() or text[j] == "."):
        j += 1
    return float(text[i:j]), j


def down(n, out):
    out.append(n)
    if n > 0:
        up(n - 1, out)


def up(n, out):
    out.append(-n)
    if n > 0:
        down(n - 1, out)


def both(n):
    out = [0]
    down(n, out)
    return out


def female(n):
    return 1 if n == 0 else n - male(female(n - 1))


def male(n):
    return 0 if n == 0 else n - female(male(n - 1))


def of_three(n):
    return 0.0 if n <= 0 else 1 + second(n - 1)


def second(n):
    return 0.5 if n <= 0 else third(n - 1) * 2


def third(n):
    return 1.0 if n <= 0 else of_three(n - 1) + second(n - 2)


def reads_around(n):
    if n == 0:
        return TABLE[1] + COUNTS[0]
    COUNTS[0] += 1
    return reads_too(n - 1)


def reads_too(n):
    if n == 0:
        return TABLE[2] + COUNTS[1]
    return reads_around(n - 1)


def with_inner(n):
    def inner(k):
        return with_inner(k - 1) + 1

    return 0 if n <= 0 else inner(n)


def doubled(n, x):
    return x * 2 if n == 0 else shifted(n - 1, x + 1)


def shifted(n, x):
    return x if n == 0 else doubled(n - 1, x)


def letters(n):
    return "" if n == 0 else "a" + others(n - 1)


def others(n):
    return "" if n == 0 else "b" + letters(n - 1)


def kept(items, i):
    if i >= len(items):
        return []
    return [items[i]] + negated(items, i + 1)


def negated(items, i):
    if i >= len(items):
        return []
    return [-items[i]] + kept(items, i + 1)


CIRCLES = [
    ((is_even, is_odd), [(10,), (7,)]),
    ((calculate, expression, term, factor), [("1+2*3",), ("(1+2)*(3-4)/5",), ("((7))",)]),
    ((both, down, up), [(4,)]),
    ((female, male), [(12,), (0,)]),
    ((of_three, second, third), [(0,), (7,), (8,)]),
    ((reads_around, reads_too), [(4,), (3,)]),
    ((with_inner,), [(3,)]),
    ((letters, others), [(5,)]),
    ((kept, negated), [([1, 2, 3, 4], 0)]),
]


@pytest.mark.parametrize("functions, calls", CIRCLES, ids=lambda x: getattr(x[0], "__name__", ""))
def test_as_python(functions, calls, on, monkeypatch):
    COUNTS[:] = 1, 2
    expected = [functions[0](*args) for args in calls]
    after = list(COUNTS)
    COUNTS[:] = 1, 2
    for f in functions:
        monkeypatch.setitem(globals(), f.__name__, un.jit(f, device=on))
    compiled = globals()[functions[0].__name__]
    assert [compiled(*args) for args in calls] == expected
    assert after == COUNTS


def test_each_can_be_called_first(on, monkeypatch):
    plain = is_even, is_odd
    for first in (0, 1):
        for f in plain:
            monkeypatch.setitem(globals(), f.__name__, un.jit(f, device=on))
        assert (is_even, is_odd)[first](5) == bool(first)
        assert (is_even, is_odd)[1 - first](5) == (not first)


def test_arrays_go_round(on, monkeypatch):
    expected = doubled(3, TABLE)
    for f in (doubled, shifted):
        monkeypatch.setitem(globals(), f.__name__, un.jit(f, device=on))
    assert np.array_equal(doubled(3, TABLE), expected)


def test_what_changes_around_is_noticed_from_every_side(on, monkeypatch):

    @un.jit(device=on)
    def ping(n):
        return LAST if n == 0 else pong(n - 1)

    @un.jit(device=on)
    def pong(n):
        return -LAST if n == 0 else ping(n - 1)

    assert (ping(3), pong(3), ping(4)) == (-2, 2, 2)
    monkeypatch.setitem(globals(), "LAST", 7)
    assert (pong(3), ping(3)) == (7, -7)
    monkeypatch.setitem(globals(), "LAST", 1.5)
    assert (ping(3), pong(3)) == (-1.5, 1.5)


def test_depth_and_refusals(on):
    @un.jit(device=on)
    def sink(n):
        return 0 if n < 0 else sank(n + 1) + 1

    @un.jit(device=on)
    def sank(n):
        return sink(n + 1)

    for f in (sink, sank):
        with pytest.raises(RuntimeError, match="maximum recursion depth exceeded"):
            f(1)

    @un.jit(device=on)
    def never(n):
        return ever(n + 1)

    @un.jit(device=on)
    def ever(n):
        return never(n + 1)

    with pytest.raises(un.CompileError, match="every path calls it again first"):
        never(1)

    @un.jit(device=on)
    def wrapped(n):
        return 0 if len(n) > 5 else again(n)

    @un.jit(device=on)
    def again(n):
        return wrapped((n, 1))

    with pytest.raises(un.CompileError, match="grow with each call"):
        wrapped((1,))

    @un.jit(device=on)
    def by_value(f, n):
        return n == 0 or f(by_value, n - 1)

    @un.jit(device=on)
    def in_turn(f, n):
        return n != 0 and f(in_turn, n - 1)

    with pytest.raises(un.CompileError, match="by functions that it calls, as a value"):
        by_value(in_turn, 3)
