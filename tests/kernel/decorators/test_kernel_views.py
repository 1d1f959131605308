"""Rows and slices of arrays in kernels: of parameters, of the group's arrays and of the work-item's own."""

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices
from unisono import cuda

pytestmark = pytest.mark.parametrize("on", all_devices())


def launch(f, over, *arrays):
    """Runs a kernel and gives its arrays as NumPy's."""
    f[over, over](*arrays)
    return arrays


def test_views_live_across_barriers(on):
    @un.kernel(device=on)
    def f(a, out, p):
        shared = un.local_array((4, 8), np.float64)
        mine = cuda.local.array((2, 3), np.float64)
        i, j = un.local_id(0), un.local_id(1)
        row = shared[i]
        own = mine[1]
        own[:] = 1.0
        own[2] = a[i, j]
        row[j] = a[i, j] + own[0] - mine[1, 1]
        un.barrier()
        for k in range(2):
            other = shared[3 - i, ::-1]
            t = other[j] + row[j] * k + own[2]
            un.barrier()
            row[j] = t
            un.barrier()
        tail = shared[1:, 2:]
        if i < 3 and j < 6:
            out[i, j] = tail[i, j] + len(tail) + tail.shape[1]
        r = p[i, j]
        r[0] += row[j]

    a, out, p = np.arange(32.0).reshape(4, 8), np.zeros((3, 6)), np.ones((4, 8, 2))
    launch(f, (4, 8), a, out, p)
    expected = a.copy()
    for k in range(2):
        expected = expected[::-1, ::-1] + expected * k + a
    assert np.array_equal(out, expected[1:, 2:] + 9)
    assert np.array_equal(p, np.stack([1 + expected, np.ones((4, 8))], -1))


@un.jit
def total(row):
    s = 0.0
    for x in row:
        s += x
    return s


@un.jit
def turn(row, i, x):
    row[i] = x
    un.barrier()
    return row[len(row) - 1 - i]


def test_views_are_passed_to_functions(on):
    @un.kernel(device=on)
    def f(a, out):
        shared = un.local_array((2, 5), np.float64)
        i = un.local_id(0)
        back = turn(shared[1, 1:], i, a[i])
        shared[0, i] = back
        un.barrier()
        out[i] = back + total(shared[0][:4]) + total(a[1:3])

    a, out = np.arange(4.0) + 1, np.zeros(4)
    launch(f, (4,), a, out)
    assert np.array_equal(out, a[::-1] + a.sum() + a[1:3].sum())


def test_a_name_moves_along_its_array(on):
    @un.kernel(device=on)
    def f(a, out):
        i = un.global_id(0)
        row = a[i]
        for k in range(3):
            row = a[(i + k) % len(a)]
        if i == 0:
            row = a[1]
        out[i] = row[1]

    a, out = np.arange(8.0).reshape(4, 2), np.zeros(4)
    launch(f, (4,), a, out)
    expected = a[(np.arange(4) + 2) % 4, 1]
    assert out.tolist() == [a[1, 1], *expected[1:]]


def test_a_record_is_a_view(on):
    point = np.dtype([("x", "f8"), ("y", "f8"), ("id", "i4")], align=True)

    @un.kernel(device=on)
    def f(p, n):
        i = un.global_id(0)
        if i < n:
            r = p[i]
            r.x = r.y * 2
            r["id"] += i

    p = np.zeros(6, point)
    p["y"] = np.arange(6)
    f[8](p, 6)
    assert np.array_equal(p["x"], 2 * p["y"]) and np.array_equal(p["id"], np.arange(6))


def test_indices_of_views_are_tested(on):
    @un.kernel(device=on)
    def f(a):
        tail = a[2:]
        tail[un.global_id(0)] = 1

    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        f[4](np.zeros(4))


def test_a_name_stands_for_one_array(on):
    @un.kernel(device=on)
    def f(a, b):
        row = a[0]
        if un.global_id(0) == 1:
            row = b[0]
        row[0] = 1

    with pytest.raises(un.CompileError, match="'row' stands for different arrays"):
        f[2](np.zeros((2, 2)), np.zeros((2, 2)))
