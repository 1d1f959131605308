"""Functions that Python passes to compiled ones: plain ones, closures, lambdas, functions known by name."""

import functools
import math
import operator

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


@un.jit
def applied(f, x):
    return f(x)


@un.jit
def folded(f, items, start):
    for x in items:
        start = f(start, x)
    return start


@un.jit
def root(f, a, b):
    while b - a > 1e-9:
        middle = (a + b) / 2
        if f(a) * f(middle) <= 0:
            b = middle
        else:
            a = middle
    return a


@un.jit
def optional(x, f=None):
    return x if f is None else f(x)


@un.jit
def all_of(functions, x):
    return [f(x) for f in functions]


def twice(x):
    return 2 * x


factor = 1


def test_plain_functions_and_lambdas():
    assert applied(twice, 3) == 6
    assert applied(lambda x: x + 0.5, 1) == 1.5
    assert optional(2, twice) == 4
    assert optional(2) == 2
    assert all_of((twice, math.sin, lambda x: x), 1.0) == [2.0, math.sin(1.0), 1.0]


def test_functions_known_by_name():
    assert folded(max, [3, 7, 2], 0) == 7
    assert folded(operator.add, [3, 7, 2], 0) == 12
    assert applied(math.sqrt, 9.0) == 3.0
    assert applied(str, 3) == "3"
    np.testing.assert_array_equal(applied(np.abs, np.array([-1.0, 2.0])), [1.0, 2.0])
    np.testing.assert_array_equal(applied(un.abs, np.array([-1.0, 2.0])), [1.0, 2.0])


def test_numbers_around_a_function_are_no_constants():
    global factor
    for k in range(1, 5):
        assert abs(root(lambda x: x * x - k, 0.0, 9.0) - k**0.5) < 1e-8  # noqa: B023
        factor = k
        assert applied(lambda x: x * factor, 10) == 10 * k  # noqa: B023
    assert len(root.signatures) == 1
    factor = 2.5
    assert applied(lambda x: x * factor, 10) == 25.0


def test_what_a_closure_captured_is_read_at_each_call():
    n = 1

    def plus(x):
        return x + n

    assert applied(plus, 1) == 2
    n = 2.5
    assert applied(plus, 1) == 3.5
    n = "s"
    assert applied(plus, "x") == "xs"
    n = 1
    assert applied(plus, 1) == 2

    def item(sequence):
        return applied(lambda i: sequence[i], 1)

    for sequence in (np.arange(3.0), np.arange(3.0) * 2, [4, 5], "ab", "cd", (1, 2), (1, 3)):
        assert item(sequence) == sequence[1]


def test_defaults_functions_around_and_recursion():
    assert [applied(lambda x, k=k: x * k, 10) for k in (1, 2, 2.0, True)] == [10, 20, 20.0, 10]

    def nested(k, m):
        def times(x):
            return x * k

        return applied(lambda x: times(x) + m, 10)

    assert [nested(1, 2), nested(3, 4), nested(3, 5)] == [12, 34, 35]

    def made():
        def factorial(n):
            return 1 if n < 2 else n * factorial(n - 1)

        return factorial

    assert [applied(made(), n) for n in range(5)] == [1, 1, 2, 6, 24]


def scaled(x, k=2, c=0):
    return x * k + c


TRIPLED = functools.partial(scaled, k=3)


def test_partials():
    for f in (
        functools.partial(scaled, 5),
        functools.partial(scaled, k=7, c=1),
        functools.partial(pow, 2),
        functools.partial(functools.partial(scaled, k=4), c=2),
    ):
        assert applied(f, 3) == f(3)

    @un.jit
    def around(x):
        return TRIPLED(x)

    assert around(4) == 12


def test_functions_of_other_decorators():
    @un.cfunc("float64(float64)")
    def more(x):
        return x + 1.0

    @un.vectorize
    def twice(x):
        return 2 * x

    @un.njit
    def square(x):
        return x * x

    @un.njit
    def one(f, x):
        return f(x)

    @un.njit
    def composed(functions, x):
        for f in functions[::-1]:
            x = f(x)
        return x

    assert one(more, 0.5) == 1.5
    assert one(twice, 0.5) == 1.0
    assert one(twice, np.arange(3.0)).tolist() == [0.0, 2.0, 4.0]
    assert composed((more, square, twice), 0.5) == 2.0
    assert composed((square, more), 0.5) == 2.25
