"""Statements that write an array of which they read rows and columns: the old elements are read, as in NumPy."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


def nearest(a, k):
    a[:] = np.minimum(a[:], np.add.outer(a[:, k], a[k, :]))


def eliminate(a, k):
    a[k + 1 :, k:] -= a[k + 1 :, k : k + 1] * a[k, k:]


def twice(a, k):
    a[:] = a[k] - 2 * a[0] + a + a[:, k : k + 1]


def backwards(a, k):
    a[1:] = a[k, ::-1] + a[:-1] * a[1:, k : k + 1]


def planes(a, k):
    b = a.reshape(a.shape[0], -1, 2)
    b[:] = b[k] * b + b[:, 0:1, :]


def in_parts(a, k):
    for i in range(a.shape[0]):
        a[i] = np.minimum(a[i] + a[k, 1] - a[:, k].max(), a[k])


@pytest.mark.parametrize(
    "program", [nearest, eliminate, twice, backwards, planes, in_parts], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("shape", [(6, 6), (40, 60), (300, 200)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_as_numpy(program, shape, order):
    compiled = un.jit(program)
    random = np.random.default_rng(1)
    for k in (0, 3, 5):
        host = np.array(random.integers(1, 99, shape).astype(float), order=order)
        expected, made = host.copy(order), host.copy(order)
        if program is planes and order == "F":
            expected, made = np.ascontiguousarray(host), np.ascontiguousarray(host)
        program(expected, k)
        compiled(made, k)
        assert np.array_equal(made, expected)
