"""Sorting, searching, sets and scans against NumPy; the same result on any number of threads."""

import numpy as np
import pytest
import unisono as un
from differential import compare, equal, inputs, outcome

pytestmark = pytest.mark.everywhere

dtypes = [row[0] for row in un._engine._dtypes if row[1] != "c"]


def noise(count, spread, dtype):
    if dtype == "float16":
        spread = min(spread, 1e4)  # some versions of NumPy misplace infinities and their neighbours
    x = np.random.default_rng(count).standard_normal(count) * spread
    return x.astype(dtype if np.dtype(dtype).kind in "fb" else "int64").astype(dtype)


@pytest.mark.parametrize("dtype", dtypes)
def test_sort_and_argsort(dtype):
    for x in inputs(dtype):
        for axis in (-1, 0, 1, None, 5):
            compare(np.sort, un.sort, x, axis=axis)
            compare(np.argsort, un.argsort, x, axis=axis, stable=True)


@pytest.mark.slow
@pytest.mark.parametrize("count", [70_000, 300_001])
@pytest.mark.parametrize("dtype", dtypes)
@pytest.mark.parametrize("spread", [3, 1e4, 1e9])
def test_long_lanes(dtype, count, spread):
    x = noise(count, spread, dtype)
    if np.dtype(dtype).kind == "f":
        x[:: count // 7] = np.nan
        x[5:500:7], x[8:500:9] = 0.0, -0.0
    equal(np.sort(x), un.sort(x))
    order = np.argsort(x, kind="stable")
    equal(order, un.argsort(x))
    equal(np.argsort(x[::2], kind="stable"), un.argsort(un.asarray(x)[::2]))
    for kth in (0, 5, count // 2, count - 1):
        part = np.asarray(un.partition(x, kth))
        places = np.asarray(un.argpartition(x, kth))
        equal(x[order][kth], part[kth])
        equal(x[order][kth], x[places[kth]])
        assert np.array_equal(np.sort(places), np.arange(count))
        assert np.array_equal(np.sort(part), x[order], equal_nan=part.dtype.kind == "f")
        equal(np.sort(part[:kth]), np.sort(x)[:kth])


def test_keys_that_agree_in_their_leading_bits():
    x = 1 + np.random.default_rng(0).integers(0, 50_000, 200_000) * 2.0**-52
    x[17] = -1e300
    equal(np.argsort(x, kind="stable"), un.argsort(x))
    equal(np.argsort(-x, kind="stable"), un.argsort(x, descending=True))


@pytest.mark.parametrize("dtype", dtypes)
def test_descending_is_stable(dtype):
    x = (np.random.default_rng(3).random((5, 400)) * 30).astype(dtype)
    order = np.asarray(un.argsort(x, descending=True))
    expected = 399 - np.argsort(x[:, ::-1], kind="stable")[:, ::-1]
    assert np.array_equal(order, expected)
    equal(np.sort(x)[:, ::-1], un.sort(x, descending=True))


@pytest.mark.parametrize("dtype", dtypes)
def test_top_k(dtype):
    for count in (10, 100_000):
        x = (np.random.default_rng(4).random(count) * 200).astype(dtype)
        for largest in (True, False):
            values, places = un.top_k(x, 7, largest=largest)
            order = np.argsort(x, kind="stable")
            if largest:
                order = count - 1 - np.argsort(x[::-1], kind="stable")[::-1]
            assert np.array_equal(places, order[:7])
            equal(x[order[:7]], values)
    values, _ = un.top_k(x.reshape(100, 1000), 3, axis=0)
    equal(np.sort(x.reshape(100, 1000), axis=0)[::-1][:3], values)
    with pytest.raises(ValueError, match="top_k: k must lie between"):
        un.top_k(x, count + 1)


@pytest.mark.parametrize("dtype", dtypes)
def test_partition_of_small_arrays(dtype):
    for x in inputs(dtype):
        for kth in (0, -1, 2, 100):
            expected = outcome(np.partition, x, kth)
            if isinstance(expected, Exception):
                with pytest.raises((ValueError, IndexError)):
                    un.partition(x, kth)
            elif x.size and kth < x.shape[-1]:
                equal(expected[..., kth], un.partition(x, kth)[..., kth])


def test_in_place():
    x = np.random.default_rng(5).random((6, 50))
    a = un.array(x)
    a.sort(axis=0)
    equal(np.sort(x, axis=0), a)
    b = un.array(x)
    b[:, ::2].sort()
    y = x.copy()
    y[:, ::2].sort()
    equal(y, b)
    c = un.array(x)
    c.partition(7)
    equal(np.sort(x)[:, 7], c[:, 7])


def test_kinds():
    for kind in ("stable", "quicksort", "heapsort", "mergesort", "bogus"):
        compare(np.sort, un.sort, [3, 1, 2], kind=kind)
    compare(np.sort, un.sort, [3, 1], kind="stable", stable=True)
    compare(np.sort, un.sort, [3, 1], order="f0")


def test_lexsort():
    r = np.random.default_rng(6)
    keys = [r.integers(0, 4, (3, 50)), r.random((3, 50)).round(1), r.integers(0, 3, (3, 50))]
    for axis in (-1, 0):
        compare(np.lexsort, un.lexsort, keys, axis=axis)
    compare(np.lexsort, un.lexsort, [k[0] for k in keys])
    compare(np.lexsort, un.lexsort, keys[0])
    compare(np.lexsort, un.lexsort, ())
    compare(np.lexsort, un.lexsort, (keys[0], keys[1][:1]))


@pytest.mark.parametrize("dtype", dtypes)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(dtype, side):
    for x in inputs(dtype):
        for n in (0, 1, 2, 3, 50):
            a = np.sort(np.resize(x, n) if x.size else np.zeros(0, dtype))
            compare(np.searchsorted, un.searchsorted, a, x, side=side)
    a = np.array([3, 1, 2])
    compare(np.searchsorted, un.searchsorted, a, [0, 1.5, 3], side, np.argsort(a))
    compare(np.searchsorted, un.searchsorted, a, 2, side, [0, 1])
    compare(np.searchsorted, un.searchsorted, np.sort(a), 2.5, side)
    compare(np.searchsorted, un.searchsorted, a.reshape(3, 1), 2)
    compare(np.searchsorted, un.searchsorted, a, 2, "middle")


def test_digitize():
    x = np.array([0.2, 6.4, 3.0, 1.6, np.nan, -1])
    for bins in (
        [0.0, 1.0, 2.5, 4.0, 10.0],
        [10.0, 4.0, 2.5, 1.0, 0.0],
        [1.0, 3.0, 2.0],
        [1.6, 1.6],
        [1.0, 3.0, np.nan],
        [np.nan, 3.0, 1.0],
    ):
        for right in (False, True):
            compare(np.digitize, un.digitize, x, bins, right=right)


@pytest.mark.parametrize("dtype", dtypes)
def test_unique(dtype):
    for x in inputs(dtype):
        for equal_nan in (True, False):
            compare(np.unique, un.unique, x, equal_nan=equal_nan)
            compare(np.unique, un.unique, x, True, True, True, equal_nan=equal_nan)
    for count in (3000, 100_000):
        for spread in (3, 100, 1e6, 1e9):
            x = noise(count, spread, dtype)
            compare(np.unique, un.unique, x)
            compare(np.unique, un.unique, x, True, True, True)


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_unique_slices(dtype):
    x = np.random.default_rng(8).integers(0, 2, (40, 3, 2)).astype(dtype)
    for axis in (0, 1, 2, -1, 3):
        compare(np.unique, un.unique, x, True, False, True, axis=axis)
        compare(np.unique, un.unique, x, return_inverse=True, axis=axis)
    if dtype == "float64":
        x[::3] = np.nan
        for equal_nan in (True, False):
            compare(np.unique, un.unique, x, True, True, True, axis=0, equal_nan=equal_nan)


def test_unique_of_the_standard():
    x = np.array([[2.0, np.nan], [1.0, 2.0]])
    for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
        compare(getattr(np, name), getattr(un, name), x)
    assert un.unique_all(x)._fields == np.unique_all(x)._fields


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_sets(dtype):
    r = np.random.default_rng(9)
    a, b = (r.integers(0, 30, n).astype(dtype) for n in (25, 40))
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d", "isin"):
        for pair in ((a, b), (a, b[:0]), (a[:0], b), (a.reshape(5, 5), b.astype("int64"))):
            compare(getattr(np, name), getattr(un, name), *pair)
    compare(np.intersect1d, un.intersect1d, a, b, return_indices=True)
    compare(np.setdiff1d, un.setdiff1d, np.unique(a)[::-1], np.unique(b), assume_unique=True)
    compare(np.isin, un.isin, a, b, invert=True)
    compare(np.isin, un.isin, a * 1.0, b, kind="table")


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("int8", -128, 127),
        ("uint8", 0, 255),
        ("int32", -(2**31), -(2**31) + 300),
        ("int64", -(2**63), -(2**63) + 300),
        ("int64", 2**63 - 301, 2**63 - 1),
        ("uint64", 2**64 - 301, 2**64 - 1),
        ("int64", -(2**63), 2**63 - 1),
    ],
)
def test_many_elements_among_integers(dtype, low, high, invert):
    """A short range takes a table, in which differences of narrow and of large integers must not wrap."""
    r = np.random.default_rng(9)
    inside = r.integers(low, high, 1200, dtype, endpoint=True)
    limits = np.array([np.iinfo(dtype).min, low, high, np.iinfo(dtype).max], dtype)
    elements = np.concatenate([inside, np.repeat(limits, 75)]).reshape(3, -1)
    tests = np.concatenate([inside[:40], limits[1:3]])
    compare(np.isin, un.isin, elements, tests, invert=invert)
    compare(np.isin, un.isin, elements, tests[:-2].astype("uint64" if dtype[0] == "u" else "int64"))


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float32", "float64"])
def test_scans(dtype):
    for x in inputs(dtype):
        for axis in (None, 0, -1, 1, 5):
            compare(np.cumsum, un.cumsum, x, axis=axis, exact=False, relative=1e-5)
            if x.dtype.kind != "f":
                compare(np.cumprod, un.cumprod, x, axis=axis)
        compare(np.cumsum, un.cumsum, x, dtype="float64", exact=False)
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    for include in (False, True):
        for axis in (0, 1, None):
            compare(np.cumulative_sum, un.cumulative_sum, x, axis=axis, include_initial=include)
            compare(
                np.cumulative_prod, un.cumulative_prod, x[0], axis=axis, include_initial=include
            )


def scanned(x):
    """The published order, one element after the other."""
    out, carry = [], None
    for start in range(0, len(x), 512):
        local = None
        for v in x[start : start + 512]:
            local = v if local is None else local + v
            out.append(local if carry is None else carry + local)
        carry = out[-1]
    return out


@pytest.mark.parametrize("count", [1, 511, 513, 5000, 70_001])
def test_order_of_running_sums(count):
    x = np.random.default_rng(count).standard_normal(count)
    expected = scanned(x)
    for threads in (1, 2, 3):
        before = un.get_num_threads()
        un.set_num_threads(threads)
        try:
            assert un.cumsum(x).tolist() == expected
            assert un.cumsum(np.stack([x, x], 1), axis=0)[:, 1].tolist() == expected
        finally:
            un.set_num_threads(before)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_order_of_running_sums_past_the_caches(threads):
    """They come in parts that stay in the caches, and are stored past them."""
    x = np.random.default_rng(1).standard_normal(2_500_013)
    expected = np.cumsum(np.pad(x, (0, -len(x) % 512)).reshape(-1, 512), axis=1)
    expected[1:] += np.cumsum(expected[:-1, -1])[:, None]
    before = un.get_num_threads()
    un.set_num_threads(threads)
    try:
        assert np.array_equal(un.cumsum(x), expected.ravel()[: len(x)])
    finally:
        un.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_products_of_complex_numbers_round_each_operation(dtype):
    """No sum of products is contracted."""
    rng = np.random.default_rng(2)
    z = (rng.standard_normal(400) + 1j * rng.standard_normal(400)).astype(dtype)

    def product(a, b):
        part = z.real.dtype.type
        return part(a.real * b.real) - part(a.imag * b.imag), part(a.real * b.imag) + part(a.imag * b.real)  # fmt: skip

    running = [z[0]]
    for x in z[1:]:
        made = np.zeros((), dtype)
        made.real, made.imag = product(running[-1], x)
        running.append(made[()])
    assert np.asarray(un.cumprod(z)).tobytes() == np.array(running).tobytes()
    pairs = np.asarray(un.multiply.reduceat(un.asarray(z), un.arange(0, 400, 2)))
    real, imag = zip(*map(product, z[::2], z[1::2]), strict=True)
    assert pairs.real.tobytes() == np.array(real).tobytes()
    assert pairs.imag.tobytes() == np.array(imag).tobytes()


def test_differences():
    r = np.random.default_rng(10)
    for x in (r.random((4, 6)), r.integers(0, 9, (3, 5)), r.random(7) > 0.5):
        for n in (0, 1, 2, -1):
            for axis in (-1, 0):
                compare(np.diff, un.diff, x, n=n, axis=axis)
        compare(np.diff, un.diff, x, axis=4)
    x = r.random((4, 6))
    compare(np.diff, un.diff, x, prepend=0, append=x)
    compare(np.diff, un.diff, 3.0)
    for options in ({}, {"to_end": [9.0, 8.0]}, {"to_begin": -1, "to_end": 1.0}):
        compare(np.ediff1d, un.ediff1d, x, **options)
    compare(np.ediff1d, un.ediff1d, [1, 2], to_end=0.5)


def test_gradients():
    r = np.random.default_rng(11)
    x, at = r.random((5, 6)), np.sort(r.random(6))
    for edge_order in (1, 2, 3):
        compare(np.gradient, un.gradient, x, edge_order=edge_order, exact=False)
        compare(np.gradient, un.gradient, x, 0.5, edge_order=edge_order, exact=False)
        compare(
            np.gradient, un.gradient, x, 2.0, at, edge_order=edge_order, exact=False, relative=1e-10
        )
        compare(
            np.gradient, un.gradient, x[0], at, edge_order=edge_order, exact=False, relative=1e-10
        )
    compare(np.gradient, un.gradient, x, axis=1, exact=False)
    compare(np.gradient, un.gradient, [1, 2, 4, 8], exact=False)
    compare(np.gradient, un.gradient, [1.0])
    compare(np.gradient, un.gradient, x, at, at)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex128"])
def test_gradients_have_numpys_bits(dtype):
    r = np.random.default_rng(12)
    f = (r.random((5, 6)) * 9).astype(dtype)
    f[2, 2] = np.nan if dtype[0] != "i" else 0
    even, uneven = np.arange(6), np.cumsum(r.random(6))  # equal distances count as one number
    for h in (2, 0.3, np.float32(0.3), even, even * 0.5, uneven, uneven.astype("float32")):
        for edge_order in (1, 2):
            compare(np.gradient, un.gradient, f, h, axis=1, edge_order=edge_order, exact=True)


def test_integrals_and_interpolation():
    r = np.random.default_rng(12)
    y, at = r.random((4, 6)), np.sort(r.random(6))
    for options in ({}, {"dx": 0.5, "axis": 0}, {"x": at}, {"x": y}):
        compare(np.trapezoid, un.trapezoid, y, exact=False, **options)
    xp, fp = np.sort(r.random(9)), r.random(9)
    x = np.concatenate([r.random(30) * 1.4 - 0.2, xp, [np.nan, -np.inf, np.inf]])
    for options in ({}, {"left": -5, "right": 7.5}, {"period": 0.7}):
        compare(np.interp, un.interp, x, xp, fp, exact=False, **options)
    compare(np.interp, un.interp, 0.5, xp, fp, exact=False)
    compare(np.interp, un.interp, x, xp, fp[:3])
    compare(np.interp, un.interp, x, xp, fp, period=0)
    for dtype in ("float16", "float32", "complex64", "int8"):
        values = (fp * 20).astype(dtype)
        compare(np.interp, un.interp, x.astype("float32"), xp, values, exact=False)


def test_interpolation_of_arrays_has_the_bits_of_numbers():
    r = np.random.default_rng(5)
    for n in (1, 2, 9):
        xp, fp = np.sort(r.random(n)), r.random(n)
        xp[-1] = np.inf
        fp[n // 2] = -np.inf
        x = np.concatenate([r.random(40000) * 1.4 - 0.2, xp, [np.nan, -np.inf, np.inf]])[::-1]
        points, at, values = un.asarray(x), un.asarray(xp), un.asarray(fp)
        made = un.interp(points, at, values)
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(np.isnan(made), np.isnan(np.interp(x, xp, fp)))
        np.testing.assert_array_equal(made, un.interp(points, at, values, left=None))
        for k in (0, 1, 7, x.size - 1):
            np.testing.assert_array_equal(made[k], un.interp(float(x[k]), at, values))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_narrow_windows(dtype, mode):
    r = np.random.default_rng(6)
    for n, m in ((1, 1), (5, 3), (3, 5), (1500, 32), (70000, 4)):
        a, v = r.integers(-9, 9, n).astype(dtype), r.integers(-9, 9, m).astype(dtype)
        want = np.convolve(a, v, mode)
        x, w = un.asarray(a), un.asarray(v)
        np.testing.assert_array_equal(un.convolve(x, w, mode), want)
        back = np.convolve(a[::-1], v[::-1], mode)
        np.testing.assert_array_equal(un.convolve(x[::-1], v=w[::-1], mode=mode), back)
        np.testing.assert_array_equal(
            un.correlate(x, w[::-1], mode), np.correlate(a, v[::-1], mode)
        )
        v[0] = np.inf
        with np.errstate(invalid="ignore"):
            want = np.convolve(a, v, mode)
        np.testing.assert_array_equal(un.convolve(x, un.asarray(v), mode), want)
    zeros = un.convolve(un.asarray(np.array([-0.0, -0.0], dtype)), un.ones(1, dtype), mode)
    assert not un.signbit(zeros).any()  # sums of products start from zero, as in NumPy


def test_unwrapped_steps_of_unsigned_integers():
    for dtype in ("uint8", "uint64", "int8", "float16", "bool"):
        p = np.asarray([5, 7, 6, 5, 4, 0, 9], dtype)
        compare(np.unwrap, un.unwrap, p, exact=False)
        compare(np.unwrap, un.unwrap, p, period=1.2, discont=1.0, exact=False)


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_sliding_products(name):
    r = np.random.default_rng(13)
    for n, m in ((7, 3), (3, 7), (5, 5), (6, 4), (4, 6), (1, 1)):
        for mode in ("full", "same", "valid", "other"):
            a, b = r.integers(-9, 9, n), r.integers(-9, 9, m)
            compare(getattr(np, name), getattr(un, name), a, b, mode=mode)
            compare(getattr(np, name), getattr(un, name), a * 0.5, b, mode=mode)
    compare(getattr(np, name), getattr(un, name), [], [1])


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_threads_do_not_change_results(dtype):
    x = (np.random.default_rng(14).standard_normal(150_000) * 1e5).astype(dtype)
    before = un.get_num_threads()
    seen = []
    try:
        for threads in (1, 2, 3):
            un.set_num_threads(threads)
            values, places = un.top_k(x, 20)
            results = [un.sort(x), un.argsort(x), un.partition(x, 700), values, places]
            results += [
                *un.unique(x, True, True, True),
                un.searchsorted(np.sort(x), x),
                un.cumsum(x),
            ]
            seen.append([np.asarray(r).tobytes() for r in results])
    finally:
        un.set_num_threads(before)
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize(
    "name", ["add", "multiply", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"]
)
def test_accumulations(name):
    for dtype in ("bool", "int32", "float64"):
        for x in inputs(dtype):
            if x.ndim and not (dtype == "float64" and name == "multiply"):
                options = {"exact": name != "add", "relative": 1e-10}
                compare(
                    getattr(np, name).accumulate, getattr(un, name).accumulate, x, axis=0, **options
                )
                compare(
                    getattr(np, name).accumulate,
                    getattr(un, name).accumulate,
                    x,
                    axis=-1,
                    **options,
                )


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", [0, 1, 40, (6, 7)])
def test_complex_numbers_sort_by_real_then_imaginary_part(shape, dtype):
    random = np.random.default_rng(5)
    x = (random.integers(-2, 3, shape) + 1j * random.integers(-2, 3, shape)).astype(dtype)
    if x.size > 20:
        x.ravel()[[3, 5, 9, 11]] = [np.nan, complex(1, np.nan), complex(np.nan, 2), np.nan]
    a = un.asarray(x)
    for axis in (-1, 0, None):
        np.testing.assert_array_equal(np.asarray(un.sort(a, axis)), np.sort(x, axis))
        expected = np.argsort(x, axis, kind="stable")
        np.testing.assert_array_equal(np.asarray(un.argsort(a, axis)), expected)
    ours = un.unique(a, return_index=True, return_inverse=True, return_counts=True)
    numpys = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    for one, two in zip(ours, numpys, strict=True):
        np.testing.assert_array_equal(np.asarray(one), two)


@pytest.mark.parametrize("n", [1, 2, 9, 23, 24, 25])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64"])
def test_rows_of_few_elements(dtype, n):
    x = (np.random.default_rng(n).standard_normal((50, n)) * 50).astype(dtype)
    if x.dtype.kind == "f":
        x[::5, n // 2], x[1, 0], x[2, 0] = np.nan, -0.0, np.inf
    compare(lambda: np.sort(x), lambda: un.sort(x))
    compare(lambda: np.median(x, axis=1), lambda: un.median(x, axis=1))
    if x.dtype.kind != "f":
        equal(np.sort(x)[:, ::-1], un.sort(x, descending=True))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint16"])
@pytest.mark.parametrize("fault", [None, 0, 255, 256, 19_998])
def test_partitions_of_what_is_sorted_or_nearly_so(fault, dtype):
    host = np.sort(np.random.default_rng(5).integers(0, 30_000, 20_000)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        host[-3:] = np.nan
    if fault is not None:
        host[fault], host[fault + 1] = 7, 3
    x = un.asarray(host)
    for kth in (0, 300, 10_000, 19_999):
        made, places = np.asarray(un.partition(x, kth)), np.asarray(un.argpartition(x, kth))
        wanted = np.sort(host)
        assert np.array_equal(made[kth], wanted[kth], equal_nan=True)
        assert np.array_equal(np.sort(made), wanted, equal_nan=True)
        assert np.array_equal(np.sort(made[:kth]), wanted[:kth], equal_nan=True)
        assert np.array_equal(np.sort(places), np.arange(20_000))
        assert np.array_equal(host[places][kth], wanted[kth], equal_nan=True)
    assert np.array_equal(un.median(x), np.median(host), equal_nan=True)
