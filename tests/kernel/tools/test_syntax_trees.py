"""Syntax trees as text: what is read from it compiles to the same code."""

import numpy as np
import pytest
import unisono as un


@un.jit
def square(x):
    return x * x


@un.jit
def is_even(n):
    return True if n == 0 else is_odd(n - 1)


@un.jit
def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def sum_of_squares(x):
    total = 0.0
    for v in x:
        total += square(v)
    return total


def table_of_words(n):
    words = {"a": 1, 'b\n"\\': 2}
    return [f"{k}={v:>{n}}" for k, v in words.items()]


def inner_functions(x, k=2.5):
    def scaled(v):
        return v * k

    try:
        return scaled(x[0]) if is_even(4) else 0.0
    except IndexError as e:
        raise ValueError("empty") from e


@pytest.mark.parametrize(
    "function, args",
    [
        (sum_of_squares, (np.ones(3),)),
        (table_of_words, (3,)),
        (inner_functions, (np.ones(3),)),
        (is_even, (5,)),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_the_program_that_is_read_is_the_same(function, args):
    compiled = function if isinstance(function, un.Dispatcher) else un.jit(function)
    compiled(*args)
    assert str(compiled._inspect_serialised_ir()) == str(compiled.inspect_ir())
    assert compiled._serialise().startswith("(unisono-tree 1\n")


def test_classes_are_refused():
    @un.jitclass([("x", un.float64)])
    class Point:
        def __init__(self, x):
            self.x = x

    @un.jit
    def moved(x):
        return Point(x + 1).x

    assert moved(1.0) == 2.0
    with pytest.raises(
        un.UnsupportedError, match="moved: a function that names a class cannot be serialised"
    ):
        moved._serialise()
