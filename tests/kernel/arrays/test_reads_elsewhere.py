"""Statements whose right side reads the array that they write at other indices than they write: NumPy reads first."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


def gather(x, o):
    x[:] = x[o]


def gather_of_part(x, o):
    x[1:] = x[1:][o[1:] - 1]


def gather_of_view(x, o):
    part = x[0 : len(o)]
    x[0 : len(o)] = part[o] * 2 + part


def gather_in_place(x, o):
    x += x[o]


def gather_under_mask(x, o):
    x[:] = np.where(o > 5, x[o], x)


def take(x, o):
    x[:] = np.take(x, o)


def roll(x, o):
    x[:] = np.roll(x, 3)


def waiting(x, o):
    moved = x * 2 + o
    x[:] = moved[::-1]


def scatter(x, o):
    x[o] = x


def scatter_view(x, o):
    x[o] = x[::-1]


def index_itself(x, o):
    o[o] = o[::-1] + 0


def index_of_itself(x, o):
    o[:] = o[o]


def rows(x, o):
    m = x.reshape(4, 5)
    m[:, :] = m[o[o < 4], :]


def kept(x, o):
    x[:] = x + np.arange(len(x))  # each element at its own index: no copy is needed


@pytest.mark.parametrize(
    "f",
    [
        gather,
        gather_of_part,
        gather_of_view,
        gather_in_place,
        gather_under_mask,
        take,
        roll,
        waiting,
        scatter,
        scatter_view,
        index_itself,
        index_of_itself,
        rows,
        kept,
    ],
)
def test_reads_come_first(f):
    o = np.array([7, 3, 19, 0, 12, 5, 16, 1, 9, 14, 2, 18, 4, 11, 17, 6, 15, 8, 13, 10])
    x = np.arange(20.0) ** 2
    wanted = x.copy(), o.copy()
    f(*wanted)
    un.jit(f)(x, o)
    np.testing.assert_array_equal(x, wanted[0])
    np.testing.assert_array_equal(o, wanted[1])
