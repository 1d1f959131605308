"""Sorts, searches, scans and places of extremes on every device, against NumPy."""

import math

import driver_of_tests
import numpy as np
import pytest
import unisono as un

DTYPES = "bool int8 uint16 int32 uint64 int64 float16 float32 float64 complex64 complex128".split()
SHAPES = [(1,), (31,), (40,), (3000,), (70000,), (5, 7), (3, 500), (2, 1, 3)]


def drawn(shape, dtype, seed=1):
    """Return numbers of both signs with repetitions, infinities and NaN where the dtype has them."""
    rng = np.random.default_rng(seed)
    a = rng.integers(-60, 60, shape)
    if np.dtype(dtype).kind == "f":
        a = np.where(a > 55, np.nan, np.where(a < -57, -np.inf, a / 4))
    if np.dtype(dtype).kind == "c":
        a = (a // 8).astype(dtype)
        a = a + 1j * rng.integers(-3, 3, shape)
        a = np.where(rng.integers(0, 9, shape) == 0, np.nan + 2j, a)
        a = np.where(rng.integers(0, 9, shape) == 0, complex(3, np.nan), a)
    return a.astype(dtype)


def same(got, expected):
    got = np.asarray(got)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sort(device, dtype, shape):
    a = drawn(shape, dtype)
    x = un.asarray(a, device=device)
    same(un.sort(x), np.sort(a, kind="stable"))
    same(un.argsort(x), np.argsort(a, kind="stable"))
    same(un.sort(x, axis=0), np.sort(a, axis=0, kind="stable"))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "float16", "float32"])
def test_sort_in_place(device, dtype):
    """A pass over the digits for each byte: the first one reads the elements, the last one stores them."""
    a = drawn((2, 2500), dtype)
    x = un.asarray(a, device=device)
    x.sort()
    same(x, np.sort(a))
    y = un.asarray(a, device=device)
    y[:, ::-1].sort()
    same(y, np.sort(a)[:, ::-1])


HARD = {
    "equal": lambda n, rng: np.full(n, 3.5),
    "falling": lambda n, rng: np.arange(n)[::-1],
    "exponents": lambda n, rng: 2.0 ** rng.uniform(-300, 300, n),
    "two far clusters": lambda n, rng: rng.integers(0, 1000, n) + rng.integers(0, 2, n) * 2**62,
    "one far": lambda n, rng: np.where(np.arange(n) == n // 2, -(2**63), rng.integers(0, n, n)),
    "mostly zero": lambda n, rng: np.where(rng.random(n) < 0.9, -0.0, rng.normal(size=n)),
    "NaN": lambda n, rng: np.where(rng.random(n) < 0.5, -np.nan, rng.normal(size=n)),
    "32 bits": lambda n, rng: rng.integers(0, 2**32, n, dtype="uint32"),
    "16 bits": lambda n, rng: rng.integers(-(2**15), 2**15, n, dtype="int16"),
    "narrow floats": lambda n, rng: rng.normal(size=n).astype("float32"),
}


def skip_most_long_lanes(device, kind, size):
    """The CUDA driver of tests takes a switch of fibers for each vote of a lane of a warp, 23 million for such a sort."""
    if str(device).startswith("cuda") and driver_of_tests.find() and size > 5000:
        if kind not in ("NaN", "16 bits") or str(device) != "cuda:0":
            pytest.skip(
                "two kinds of long lanes, on one device, are enough for the driver of tests"
            )


@pytest.mark.parametrize(
    "shape",
    [(33,), (2047,), (2, 2048), (2049,), (5000,), (32767,), (32768,), (100_000,), (3, 40_000)],
)
@pytest.mark.parametrize("kind", HARD)
def test_keys_that_are_hard_to_part(device, kind, shape):
    """Long lanes go into buckets on some devices; keys of a bucket that agree in leading bits need more.

    Others sort tiles of 2048 elements.
    """
    skip_most_long_lanes(device, kind, np.prod(shape))
    a = HARD[kind](int(np.prod(shape)), np.random.default_rng(9)).reshape(shape)
    x = un.asarray(a, device=device)
    same(un.sort(x), np.sort(a, kind="stable"))
    same(un.argsort(x), np.argsort(a, kind="stable"))


@pytest.mark.parametrize("shape", [(5000,), (40_000,), (3, 40_000), (100_000,)])
@pytest.mark.parametrize("kind", HARD)
def test_selections_of_long_lanes(device, kind, shape):
    """Of long lanes only the part that has the place is sorted, and few first elements come from pieces."""
    skip_most_long_lanes(device, kind, np.prod(shape))
    a = HARD[kind](int(np.prod(shape)), np.random.default_rng(9)).reshape(shape)
    x, n = un.asarray(a, device=device), shape[-1]
    lanes = a.reshape(-1, n)
    for place in (0, 77, n // 2, n - 1):
        got = np.asarray(un.partition(x, place)).reshape(-1, n)
        order = np.asarray(un.argpartition(x, place)).reshape(-1, n)
        for lane, made, at in zip(lanes, got, order, strict=True):
            near = np.sort(lane)
            same(np.sort(made[:place]), near[:place])
            same(made[place:][:1], near[place:][:1])
            same(np.sort(made[place:]), near[place:])
            same(np.sort(at), np.arange(n))
            same(np.sort(lane[at[:place]]), near[:place])
            same(lane[at[place]], near[place])
    for k in (1, 20, 32, 33, 1000):
        for got, near in zip(un.top_k(x, k), un.top_k(un.asarray(a), k), strict=True):
            same(got, np.asarray(near))
        for got, near in zip(
            un.top_k(x, k, largest=False), un.top_k(un.asarray(a), k, largest=False), strict=True
        ):
            same(got, np.asarray(near))


@pytest.mark.parametrize("k", [1, 40, 700])
@pytest.mark.parametrize("kind", HARD)
def test_the_largest_of_long_lanes(device, kind, k):
    """Some devices sort those beyond a sample alone, unless they are too many or too few."""
    skip_most_long_lanes(device, kind, 2 * 50_000)
    a = HARD[kind](2 * 50_000, np.random.default_rng(4)).reshape(2, -1)
    values, places = un.top_k(un.asarray(a, device=device), k)
    expected, where = un.top_k(un.asarray(a), k)
    same(values, np.asarray(expected))
    same(places, np.asarray(where))


@pytest.mark.parametrize("n", [1, 33, 130, 511, 512, 513, 5000, 40_000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_first_places_of_extremes(device, dtype, n):
    """Of equal extremes the first one counts, and the first NaN before all; in lanes that rise, each block has a better one."""
    a = drawn((n,), dtype, seed=5)
    rising = np.sort(a)
    lanes = np.stack([a, a[::-1], np.full_like(a, a[0]), rising, rising[::-1]])
    if a.dtype.kind in "fc":
        finite = np.where(np.isnan(a), a.dtype.type(0), a)
        lanes = np.stack([*lanes, finite, -finite, np.where(np.arange(n) % 2, -0.0, 0.0)])
        lanes = lanes.astype(dtype)
    x = un.asarray(lanes, device=device)
    same(un.argmax(x, axis=1), np.argmax(lanes, axis=1))
    same(un.argmin(x, axis=1), np.argmin(lanes, axis=1))
    same(un.argmax(x, axis=0), np.argmax(lanes, axis=0))
    for lane, near in zip(x, lanes, strict=True):
        same(un.argmin(lane), np.argmin(near))


@pytest.mark.parametrize("dtype", ["int16", "float64", "complex128"])
def test_descending(device, dtype):
    a = drawn((2, 400), dtype)
    x = un.asarray(a, device=device)
    from unisono import array_api

    for stable in (True, False):
        got = np.asarray(array_api.argsort(x, descending=True, stable=stable))
        same(got, np.asarray(array_api.argsort(un.asarray(a), descending=True, stable=stable)))
    same(
        array_api.sort(x, descending=True),
        np.asarray(array_api.sort(un.asarray(a), descending=True)),
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_selections(device, dtype):
    a = drawn((3, 200), dtype)
    x = un.asarray(a, device=device)
    k = np.asarray(un.partition(x, 20))
    same(np.sort(k), np.sort(a))
    same(k[:, 20], np.sort(a)[:, 20])
    same(np.take_along_axis(a, np.asarray(un.argpartition(x, 20)), 1)[:, 20], np.sort(a)[:, 20])
    values, places = un.top_k(x, 5)
    near, near_places = un.top_k(un.asarray(a), 5)
    same(values, np.asarray(near))
    same(places, np.asarray(near_places))
    same(un.argmax(x, axis=1), np.argmax(a, axis=1))
    same(un.argmin(x, axis=0), np.argmin(a, axis=0))
    same(un.argmax(x), np.argmax(a))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_search(device, dtype, side):
    a, v = np.sort(drawn((900,), dtype)), drawn((300,), dtype, 2)
    x, w = un.asarray(a, device=device), un.asarray(v, device=device)
    same(un.searchsorted(x, w, side=side), np.searchsorted(a, v, side=side))


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
@pytest.mark.parametrize(
    "shape",
    [(32,), (65,), (129,), (513,), (300_000,), (40, 100), (7, 5000), (900, 1500), (2, 33_000)],
)
def test_scans_have_the_bits_of_the_host(device, dtype, shape):
    """Short lanes, and those whose blocks fill one tile, several, or many."""
    a = (np.random.default_rng(1).random(shape) * 100 - 50).astype(dtype)
    x = un.asarray(a, device=device)
    expected = un.cumsum(un.asarray(a), axis=-1)
    assert np.asarray(un.cumsum(x, axis=-1)).tobytes() == np.asarray(expected).tobytes()


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
@pytest.mark.parametrize(
    "shape",
    [
        (1, 32),
        (512, 40),
        (513, 33),
        (6000, 100),
        (9, 20_000),
        (2, 1100, 5, 9),
        (3, 70, 40),
        (520, 70_000),
    ],
)
def test_scans_of_columns_have_the_bits_of_the_host(device, dtype, shape):
    """Columns that lie side by side, of one block or several, few columns or many."""
    if dtype == "complex128" and math.prod(shape) > 10**7:
        pytest.skip("ten arrays of that size take 6 GB")
    a = (np.random.default_rng(1).random(shape, np.float32) * 100 - 50).astype(dtype)
    axis = 1 if len(shape) > 2 else 0
    x = un.asarray(a, device=device)
    got, expected = un.cumsum(x, axis=axis), un.cumsum(un.asarray(a), axis=axis)
    assert np.asarray(got).tobytes() == np.asarray(expected).tobytes()
    assert got.flags.c_contiguous or device == "cpu"
    same(un.maximum.accumulate(x[:, ::-1], axis=0), np.maximum.accumulate(a[:, ::-1], axis=0))


@pytest.mark.parametrize("shape", [(1,), (511,), (513,), (5000,), (4, 600), (600, 3)])
@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int64", "uint64", "float32", "float64", "complex128"]
)
def test_scans(device, dtype, shape):
    """With the bits of the host, which combines in the same order."""
    a = drawn(shape, dtype)
    if a.dtype.kind in "fc":
        a = np.nan_to_num(a, neginf=3) / 7
    x, near = un.asarray(a, device=device), un.asarray(a)
    functions = [lambda y: un.cumsum(y, axis=0), lambda y: un.cumprod(y, axis=-1)]
    functions += [lambda y: un.minimum.accumulate(y, axis=-1), lambda y: un.maximum.accumulate(y)]
    if a.dtype.kind in "iu":
        functions += [un.bitwise_xor.accumulate, un.bitwise_or.accumulate]
    for f in functions:
        got, expected = np.asarray(f(x)), np.asarray(f(near))
        assert got.dtype == expected.dtype and got.tobytes() == expected.tobytes()


def test_results_lie_on_the_device(device):
    x = un.asarray(np.arange(5.0), device=device)
    for made in (un.sort(x), un.argsort(x), un.cumsum(x), *un.top_k(x, 2)):
        assert made.device == x.device
