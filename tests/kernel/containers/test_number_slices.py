"""Slices of lists of numbers that are assigned and deleted, against Python."""

import pytest
import unisono as un


def sieve(n):
    flags = [True] * n
    flags[0] = flags[1] = False
    for i in range(2, int(n**0.5) + 1):
        if flags[i]:
            flags[i * i :: i] = [False] * len(range(i * i, n, i))
    return flags, sum(flags)


def changed(i, j, k):
    x = [10 * v for v in range(8)]
    x[i:j] = [1, 2, 3]
    y = x[:]
    y[i:j] = x
    y[k:] = (7, 8)
    x[:0] = x
    z = [0.5] * 6
    z[1:2] = []
    z[i:j] = [1.5, 2.0]
    w = list(range(12))
    w[i::2] = w[i::2][::-1]
    return x, y, z, w


def removed(i, j, k):
    x = list(range(12))
    del x[i:j]
    y = list(range(12))
    del y[i:j:k]
    del y[::-5]
    z = x[:]
    del z[:]
    return x, y, z


def stepped(i, j, k):
    x = list(range(12))
    x[i:j:k] = [100 + v for v in range(len(x[i:j:k]))]
    return x


def reversed_part(tour, i, j):
    x = list(tour)
    x[i : j + 1] = x[i : j + 1][::-1]
    return x


@pytest.mark.parametrize("f", [changed, removed, stepped])
@pytest.mark.parametrize(
    "bounds", [(1, 4, 2), (-3, 20, 3), (5, 2, 1), (2, 9, -1), (9, 2, -2), (0, 0, 4)]
)
def test_like_python(f, bounds):
    assert un.jit(f)(*bounds) == f(*bounds)


def test_programs():
    assert un.jit(sieve)(200) == sieve(200)
    assert un.jit(reversed_part)([1, 2, 3, 4, 5], 1, 3) == [1, 4, 3, 2, 5]


def test_lengths_that_differ_raise():
    @un.jit
    def f(n):
        x = list(range(10))
        x[::3] = [0] * n
        return x

    assert f(4) == [0, 1, 2, 0, 4, 5, 0, 7, 8, 0]
    with pytest.raises(ValueError, match="sequence of size 3 to extended slice of size 4"):
        f(3)
