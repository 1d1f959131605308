"""Functions inside that compiled functions return to each other, with what they captured."""

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices


def composed(n):
    def compose(*functions):
        def run(x):
            for f in functions:
                x = f(x)
            return x

        return run

    def adder(k):
        return lambda x: x + k

    both = compose(adder(2), lambda x: x * 10)
    return both(n), adder(0.5)(n), [f(1) for f in (adder(1), adder(2))]


def reading_what_changes(n):
    def reader(xs):
        def get(i):
            return xs[i]

        return get

    xs = [5, 6, 7]
    table = {"a": 1}
    first, second = reader(xs), reader(table)
    xs[n] = 100
    table["b"] = 2
    return first(n), first(0), second("b")


def several(n):
    def polynomial(*cs):
        def value(x):
            s = 0
            for c in reversed(cs):
                s = s * x + c
            return s

        def slope(x):
            return sum(i * c * x ** (i - 1) for i, c in enumerate(cs) if i)

        return value, slope

    value, slope = polynomial(1, 2, 3)
    return value(n), slope(n)


def remembered(n):
    def memo(f):
        cache = {}

        def g(x):
            if x not in cache:
                print("computes", x)
                cache[x] = f(x)
            return cache[x]

        return g

    square = memo(lambda x: x * x)
    return square(n), square(n), square(n + 1)


def factor(k):
    def times(x):
        return x * k

    return times


def from_outside(n):
    return factor(2)(factor(1.5)(n)), sorted([n, -n], key=factor(-1))


def recursive(n):
    def powers(k):
        def power(m):
            return 1 if m <= 0 else k * power(m - 1)

        return power

    return powers(3)(n)


CASES = [composed, reading_what_changes, several, remembered, from_outside, recursive]


@pytest.mark.parametrize("on", all_devices())
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_as_python(on, function, capfd):
    want = function(2), capfd.readouterr().out
    assert (un.jit(function, device=on)(2), capfd.readouterr().out) == want


def test_with_an_array():
    @un.jit
    def shifted(a, k):
        def made(b):
            def f(i):
                return b[i] + k

            return f

        f = made(a)
        return f(0), made(a * 2)(1)

    assert shifted(np.array([1.0, 2.0]), 10) == (11.0, 14.0)


def test_not_to_python():
    @un.jit
    def made(k):
        return lambda x: x + k

    @un.jit
    def pair(k):
        return k, lambda x: x + k

    for function in (made, pair):
        with pytest.raises(un.CompileError, match="cannot be returned to Python"):
            function(1)
