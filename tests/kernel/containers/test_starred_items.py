"""Calls with the items of a list behind a star, and empty lists in slices of lists of texts."""

import math

import numpy as np
import pytest
import unisono as un


def _whole(xs):
    return math.gcd(*xs), math.lcm(*xs), max(*xs), min(*xs)


@pytest.mark.parametrize("xs", [[12, 18, 30], (12, -18, 30), [7, 0], [2**40, 2**41]], ids=str)
def test_whole_numbers(xs):
    assert un.jit(_whole)(xs) == _whole(xs)


def test_extremes_of_one_and_of_none():
    @un.jit
    def divisor(xs):
        return math.gcd(*xs)

    @un.jit
    def highest(xs):
        return max(*xs)

    assert divisor([-4]) == 4 and divisor([1][1:]) == 0
    assert highest([2.5, -1.0]) == 2.5 and highest(((1, 2), (3, 0))) == (3, 0)
    with pytest.raises(TypeError, match="the only argument of max is not iterable"):
        highest([5])
    with pytest.raises(TypeError, match="max expected at least 1 argument, got 0"):
        highest([5][1:])


def test_empty_lists_in_slices():
    @un.jit
    def shortened(xs, rows):
        xs[2:] = []
        rows[:1] = []
        return xs + ["end"], rows

    texts, rows = ["b", "a", "c", "d"], [[1], [2, 3]]
    assert shortened(texts, rows) == (["b", "a", "end"], [[2, 3]])
    assert texts == ["b", "a"] and rows == [[2, 3]]


def test_small_arrays_are_kept_while_something_holds_them():
    @un.jit
    def parts(n):
        made = [np.full(i % 40, float(i)) for i in range(n)]
        last = np.zeros(3)
        for i in range(n):
            last = last + np.array([i, 1.0, made[i].size])
        return made, last

    kept = [parts(50) for _ in range(3)]
    for made, last in kept:
        assert [a.tolist() for a in made] == [[float(i)] * (i % 40) for i in range(50)]
        assert last.tolist() == [1225.0, 50.0, float(sum(i % 40 for i in range(50)))]
        assert [a.nbytes for a in made] == [8 * (i % 40) for i in range(50)]
