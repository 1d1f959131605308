"""Work-items of CUDA devices take several neighbours at once: the bits of the CPU, at any address."""

import itertools

import numpy as np
import pytest
import unisono as un

NAMES = [d.name for d in un.devices("cuda")]

pytestmark = pytest.mark.skipif(not NAMES, reason="no CUDA device")

DTYPES = "bool int8 uint8 int16 float16 int32 float32 int64 float64 complex64 complex128".split()
LENGTHS = [0, 1, 3, 31, 32, 64, 127, 128, 129, 130, 131, 255, 511, 512, 513, 527, 1000]
OFFSETS = [0, 1, 2, 3, 4, 8, 15, 16]


def numbers(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if np.dtype(dtype).kind in "iu":
        return random.integers(1, 100, shape).astype(dtype)
    x = random.random(shape)
    return (x + 1j * random.random(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def same(f, *arrays):
    """What f makes of the arrays on the device and of NumPy's arrays, in bits."""
    got = np.asarray(f(*[un.asarray(x, device=NAMES[0]) for x in arrays]))
    wanted = np.asarray(f(*[un.asarray(x) for x in arrays]))
    assert (got.dtype, got.shape, got.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes())


@pytest.mark.parametrize("dtype", DTYPES)
def test_windows(dtype):
    x, y = (numbers(1100, dtype, k) for k in range(2))
    for n, (i, j) in itertools.product(LENGTHS, [(k, k) for k in OFFSETS] + [(0, 1), (16, 2)]):
        same(lambda a, b, n=n, i=i, j=j: a[i : i + n] + b[j : j + n], x, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows(dtype):
    for columns in (512, 516, 521):
        x, y = (numbers((5, columns), dtype, k) for k in range(2))
        for first, last in [(0, columns), (0, 500), (0, 511), (1, 500), (4, 511), (16, 495)]:
            same(lambda a, b, i=first, j=last: a[1:, i:j] + b[:-1, i:j], x, y)


@pytest.mark.parametrize("other", ["int8", "uint8", "int16", "int32", "float64", "complex64"])
def test_mixed_dtypes(other):
    x, y = numbers(1000, "float32"), numbers(1000, other, 1)
    for i in OFFSETS:
        same(lambda a, b, i=i: a[i:] * b[i:] + a[i:], x, y)


def test_what_does_not_go_by_the_column():
    x, row, column = (
        numbers((7, 515), "float32"),
        numbers(515, "float32", 1),
        numbers((7, 1), "int8", 2),
    )
    same(lambda a, r, c: a * r + c, x, row, column)
    same(lambda a, r, c: un.where(a > 0.5, r, c), x, row, column)
    same(lambda a, r, c: a[:, ::-1] * r[::-1] + a[:, :1], x, row, column)
    same(lambda a, r, c: a[:, ::2] * r[::2] + c, x, row, column)


def test_in_place():
    def steps(a, b):
        a = a + 0
        a[1:] += b[:-1]
        a[:512] = b[4:516] * a[:512]
        a[3:900] = a[7:904]
        return a

    same(steps, numbers(1000, "float64"), numbers(1000, "float64", 1))


@un.jit
def axpy(factor, x, y):
    for k in un.prange(len(x)):
        scaled = factor * x[k]
        if scaled > 1.0:
            scaled = scaled - 1.0
        y[k] = scaled + y[k]


@un.jit
def scale_rows(a, b):
    for i in un.prange(a.shape[0]):
        for j in un.prange(a.shape[1]):
            b[i, j] = a[i, j] * 2.0 + b[i, j]


def test_compiled_loops():
    def axpy_of(i):
        def f(x, y):
            y = y + 0
            axpy(1.5, x[i:], y[i:])
            return y

        return f

    for i in (0, 1, 2, 4):
        same(axpy_of(i), numbers(1001, "float64"), numbers(1001, "float64", 1))

    def rows(a, b):
        b = b + 0
        scale_rows(a, b)
        return b

    same(rows, numbers((9, 512), "float32"), numbers((9, 512), "float32", 1))
    same(rows, numbers((9, 515), "float32"), numbers((9, 515), "float32", 1))
