"""Reductions of CUDA devices have the bits of the CPU: along contiguous rows warps shuffle."""

import driver_of_tests
import numpy as np
import pytest
import unisono as un

NAMES = [d.name for d in un.devices("cuda")]
driver = driver_of_tests.find()

pytestmark = pytest.mark.skipif(not NAMES, reason="no CUDA device")

LENGTHS = [0, 1, 31, 32, 33, 64, 127, 511, 512, 513, 1024, 1543, 8 * 512, 8 * 512 + 17]
NODES = [9 * 512, 31 * 512 + 3, 32 * 512, 33 * 512, 1000003]  # of the tree, 32 leaves each


def bits(x):
    x = np.asarray(x.to_device("cpu"))
    return x.dtype, x.shape, np.where(x != x, np.zeros_like(x), x).tobytes(), (x != x).tobytes()


def same(f, x):
    assert bits(f(un.asarray(x, device=NAMES[0]))) == bits(f(un.asarray(x)))


def numbers(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if np.dtype(dtype).kind in "iu":
        return random.integers(0, 100, shape).astype(dtype)
    x = random.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * random.standard_normal(shape)
    return x.astype(dtype)


@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(n):
    for dtype in ("float32", "complex64"):
        x = numbers((3, n), dtype)
        same(lambda a: a.sum(axis=1), x)
        same(lambda a: un.asarray(a[1].sum()), x)


@pytest.mark.parametrize(
    "dtype",
    "bool int8 uint8 int16 int32 int64 uint64 float16 float32 float64 complex64 complex128".split(),
)
def test_dtypes(dtype):
    x = numbers((2, 3, 709), dtype)
    names = ["sum", "prod", "mean", "any", "all", "count_nonzero"]
    if not dtype.startswith("complex"):
        names += ["min", "max", "argmax"]
    for name in names:
        f = getattr(un, name)
        same(lambda a, f=f: f(a, axis=-1), x)
        same(lambda a, f=f: un.asarray(f(a)), x[0, 0])


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[:, ::2],
        lambda a: a[:, ::-1],
        lambda a: a[::2, 5:],
        lambda a: a.T,
        lambda a: un.broadcast_to(a[:, :1], (40, 700)),
        lambda a: a.reshape(4, 5, 2, 700).transpose(2, 0, 1, 3),
        lambda a: a.reshape(2, 2, 2, 5, 700)[:, :, ::-1],
    ],
)
def test_layouts(view):
    x = numbers((40, 700), "float32")
    for axis in (0, -1):
        same(lambda a, axis=axis: view(a).sum(axis=axis), x)


def test_special_numbers():
    x = numbers((5, 600), "float64")
    x[0, 77] = np.nan
    x[1] = -0.0
    x[2, 5], x[2, 550] = np.inf, -np.inf
    for f in (un.sum, un.min, un.max, un.nanmax, un.std):
        same(lambda a, f=f: f(a, axis=1), x)


def test_what_is_fused():
    """Several outputs of one kernel, and functions with many nodes."""

    def several(a):
        b = a * 2 + 1
        return un.stack([b.sum(axis=1), (b * a).max(axis=1), b[:, 3]])

    def long(a):
        b = a
        for k in range(12):
            b = b * a + k
        return b.sum(axis=1)

    x = numbers((7, 1300), "float32")
    same(several, x)
    same(long, x / 4)


def test_many_rows():
    """More than one axis of the grid takes."""
    x = numbers((70000, 33), "float32")
    same(lambda a: a.sum(axis=1), x)


@pytest.mark.parametrize("n", NODES)
def test_many_leaves(n):
    for dtype in ("float32", "complex128"):
        x = numbers(n, dtype)
        same(lambda a: un.asarray(a.sum()), x)
        same(lambda a: a.reshape(3, -1).sum(axis=1), x[: n // 3 * 3])
    same(lambda a: un.asarray(a.min()), numbers(n, "int16"))


@pytest.mark.parametrize(
    "n", [1, 2, 31, 33, 511, 512, 513, 1025, 31 * 512, 40 * 512 + 3, 1100 * 512]
)
def test_scans(n):
    """By tiles of 32 blocks; the carries of many blocks by tiles, too."""
    for dtype in ("float32", "int64"):
        same(un.cumsum, numbers(n, dtype))
    if n < 30000:
        same(lambda a: un.cumsum(a, axis=1), numbers((3, n), "complex128"))
        same(lambda a: un.cumprod(a, axis=0), numbers((n, 5), "float64"))
        same(un.cumsum, numbers(n, "bool"))


@pytest.mark.parametrize("rows", [33, 40, 64 + 17])
def test_several_leaves_of_rows_at_once(rows):
    x = numbers((rows, (1 << 23) // rows + 1), "float32")
    same(lambda a: a.sum(axis=0), x)
    same(lambda a: un.stack([(a * 2).max(axis=0), a.sum(axis=0)]), x[:, ::2])


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
def test_rows_shorter_than_a_warp(dtype):
    """Several share a warp; at the end of the rows some of its work-items have none."""
    for n in range(2, 33):
        x = numbers((67, n), dtype, n)
        same(lambda a: a.sum(axis=1), x)
        same(lambda a: (a * a[:, :1]).prod(axis=1), x)
    x = numbers((3, 5, 9, 13), dtype)
    same(lambda a: a.sum(axis=-1), x)
    same(lambda a: a[::2, :, ::-1, ::3].sum(axis=-1), x)
    same(lambda a: a.transpose(0, 3, 1, 2).sum(axis=-1), x)
    if not dtype.startswith("complex"):
        same(lambda a: un.stack([a.max(axis=-1), a.min(axis=-1), a.sum(axis=-1)]), x)


def test_short_rows_of_special_numbers():
    x = np.full((40, 11), -0.0)
    x[3, 7], x[4, 2], x[5, 9] = np.nan, np.inf, 1.0
    for f in (un.sum, un.min, un.max, un.nanmax, un.std):
        same(lambda a, f=f: f(a, axis=1), x)


def test_short_rows_of_long_programs():
    def long(a):
        b = a
        for k in range(12):
            b = b * a + k
        return b.sum(axis=1)

    same(long, numbers((45, 21), "float32") / 4)


def test_rows_of_one_leaf_into_what_is_read():
    """Results are stored at once, but where they lie in memory that others read."""

    def steps(a):
        a = a + 0
        a[:, 0] = a.sum(axis=1)
        a[1:, 3] = (a * 2).max(axis=1)[:-1]
        return a

    for n in (5, 32, 300):
        same(steps, numbers((40, n), "float64"))


@pytest.mark.skipif(driver is None, reason="not the CUDA driver of tests")
@pytest.mark.parametrize("n", [2, 16, 31, 32, 300])
def test_rows_of_one_leaf_take_one_launch(n):
    x = un.asarray(numbers((67, n), "float32"), device=NAMES[0])
    un.eval(x.sum(axis=1))
    un.synchronize()
    before = driver.count("cuLaunchKernel")
    un.eval(x.sum(axis=1))
    un.synchronize()
    assert driver.count("cuLaunchKernel") - before == 1
