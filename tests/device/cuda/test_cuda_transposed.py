"""Statements whose operands lie along different axes, on CUDA devices: the bits of the CPU."""

import itertools

import numpy as np
import pytest
import unisono as un

NAMES = [d.name for d in un.devices("cuda")]

pytestmark = pytest.mark.skipif(not NAMES, reason="no CUDA device")

DTYPES = "bool int8 uint8 int16 float16 int32 float32 int64 float64 complex64 complex128".split()
SHAPES = [
    (64, 64),
    (100, 130),
    (33, 257),
    (1, 70),
    (70, 1),
    (17, 16),
    (300, 31),
    (15, 400),
    (0, 70),
]


def numbers(shape, dtype, seed=0):
    x = np.random.default_rng(seed).integers(0, 100, (*shape, 2))
    return (x[..., 0] + 1j * x[..., 1] if np.dtype(dtype).kind == "c" else x[..., 0]).astype(dtype)


def same(f, *arrays):
    """What f makes of the arrays on the device, and what of NumPy's, in bits."""
    with un.device(NAMES[0]):
        got = np.asarray(f(un, *[un.asarray(x, device=NAMES[0]) for x in arrays]))
    wanted = f(np, *[x.copy() for x in arrays])
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    assert got.tobytes() == wanted.tobytes()


def update(a, b):
    a += b
    return a


def update_columns(a, b):
    a.T[...] += b
    return a


@pytest.mark.parametrize("dtype", DTYPES)
def test_matrices(dtype):
    for shape in SHAPES:
        a, b = numbers(shape, dtype), numbers(shape[::-1], dtype, 1)
        same(lambda xp, a: xp.ascontiguousarray(a.T), a)
        same(lambda xp, a, b: xp.where(b != a.T, b, a.T), a, b)
        same(lambda xp, a, b: a.T * b + a.T, a, b)
        same(lambda xp, a, b: update(b, a.T), a, b)
        same(lambda xp, a, b: update_columns(a, b), a, b)


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
def test_windows_in_any_direction(dtype):
    a = numbers((5, 67, 70), dtype)
    for axes in itertools.permutations(range(3)):
        for window in (np.s_[:], np.s_[::-1, 2:, ::-1], np.s_[:, 1:40, 3:-1], np.s_[2, None]):
            same(lambda xp, a, w=window, to=axes: xp.ascontiguousarray(a[w].transpose(to)), a)


def test_mixed_dtypes_and_orders():
    a, b, c = numbers((90, 100), "int8"), numbers((100, 90), "float64"), numbers((100,), "int16")
    same(lambda xp, a, b, c: a.T * b + c[:, None], a, b, c)
    same(lambda xp, a, b, c: (a + c) * b.T, a, b, c)
    same(lambda xp, a, b, c: xp.asfortranarray(a) + xp.asfortranarray(b.T), a, b, c)
    same(lambda xp, a, b, c: update(xp.asfortranarray(b), a.T).T + c, a, b, c)


def test_long_expressions_and_many_operands():
    a = [numbers((65, 80), "float32", k) / np.float32(100) for k in range(5)]

    def long(xp, *a):
        x = a[0].T
        for k in range(30):
            x = x * a[1].T + k
        return x

    def many(xp, a, b, c, d, e):
        return a.T + b.T * c.T - d.T * e.T + a.T

    same(long, *a[:2])
    same(many, *a)
    same(many, *[x.astype("complex128") for x in a])


def test_numbers_of_points():
    same(lambda xp, a: xp.arange(100 * 90).reshape(90, 100) + a.T, numbers((100, 90), "int64"))


def test_more_matrices_than_a_grid_has_blocks_along_an_axis():
    same(lambda xp, a: xp.ascontiguousarray(a.swapaxes(1, 2)), numbers((66_000, 16, 16), "uint8"))


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_long_and_narrow(dtype):
    same(lambda xp, a: xp.ascontiguousarray(a.transpose(1, 0, 2)), numbers((16, 17, 3), dtype))
    same(lambda xp, a: xp.ascontiguousarray(a.T), numbers((17, 70_000), dtype))
