"""Calls and `:=` in parts of expressions that may not be evaluated, against Python."""

import math

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


def rounds_one(a, x):
    return x if a > 0 else round(x, 2)


def rounds_both(a, x):
    return round(x, 1) if a > 0 else round(x, 2)


def rounds_behind_and(a, x):
    return a > 0 and round(x, 2) > 1


def rounds_in_lists(a, x):
    return [round(v, 2) if v > 0 else v for v in [x, -x]]


def rounds_in_generators(a, x):
    return sum(round(v, 2) for v in [x, 1.234] if round(v, 1) > a - 10)


def rounds_in_loops(a, x):
    while a < 3 and round(x, 2) > 0:
        a += 1
    return a


def assigns_in_one_branch(a, x):
    y = 0.0
    z = (y := x) if a > 0 else -x
    return y, z


def assigns_behind_and(a, x):
    y = 0
    if a > 0 and (y := a * 2) > 3:
        return y
    return -y


def assigns_behind_or(a, x):
    c = 0.0
    r = (b := x * 2) > 30 or (c := x) > 0
    return r, b, c


def assigns_in_a_condition(a, x):
    n, m = 0, 0
    while n < 5 and (m := n * a) < 6:
        n += 1
    return n, m


def assigned_on_some_paths(a, x):
    z = 1.0 if a > 0 else (y := x)
    return z if a > 0 else y


def formats(a, x):
    return x if a > 0 else float(f"{x:.2f}")


def sums(a, x):
    return x if a > 0 else sum([v * x for v in range(3)])


def sorts(a, x):
    return x if a > 0 else sorted([x, 1.0, 0.5])[1]


def makes_arrays(a, x):
    return x if a > 0 else float(np.array([x, 1.0]).sum())


def calls_lambdas(a, x):
    return x if a > 0 else (lambda q: round(q, 1) + 1)(x)


def unpacks(a, x):
    p, q = (x, 1.0) if a > 0 else (round(x, 1), 2.0)
    return p + q


def makes_lists(a, x):
    return [x] if a > 0 else [round(x, 2), 2.0]


def multiplies(a, x):
    return x if a > 0 else math.prod([x, round(x, 1)])


_FUNCTIONS = [v for v in list(globals().values()) if getattr(v, "__module__", None) == __name__]


@pytest.mark.parametrize("a", [1, 2, -1])
@pytest.mark.parametrize("function", _FUNCTIONS, ids=lambda f: f.__name__)
def test_as_python(function, a):
    for x in (2.345, -7.5):
        expected, got = function(a, x), un.jit(function)(a, x)
        assert got == expected and type(got) is type(expected)
