"""Reductions and statistics against NumPy: values, dtypes, shapes, exceptions; the same bits on any threads."""

import numpy as np
import pytest
import unisono as un
from differential import compare, inputs

dtypes = ["bool", "int32", "int64", "float32", "float64"]
axes = [None, 0, -1, 1, (0, 1), 5]


@pytest.mark.parametrize("dtype", dtypes)
@pytest.mark.parametrize(
    "name", ["mean", "var", "std", "sum", "max", "min", "any", "all", "count_nonzero"]
)
def test_reductions(name, dtype):
    for x in inputs(dtype):
        for axis in axes:
            for keepdims in (False, True):
                options = {"axis": axis, "keepdims": keepdims}
                compare(
                    getattr(np, name), getattr(un, name), x, exact=False, relative=3e-5, **options
                )


@pytest.mark.parametrize("dtype", dtypes)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places_of_extremes(name, dtype):
    for x in inputs(dtype):
        for axis in (None, 0, -1, 5):
            for keepdims in (False, True):
                compare(getattr(np, name), getattr(un, name), x, axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("count", [31, 32_768, 100_003])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_places_of_extremes_in_long_lanes(dtype, count):
    x = (np.random.default_rng(count).random(count) * 1e4).astype(dtype)
    for function in ("argmax", "argmin"):
        compare(getattr(np, function), getattr(un, function), x)
        compare(getattr(np, function), getattr(un, function), x[::-1])
    if dtype == "float64":
        x[[count // 2, count - 1]] = np.nan
        assert int(un.argmax(x)) == int(un.argmin(x)) == count // 2


@pytest.mark.parametrize("dtype", dtypes)
def test_masks_and_initial_values(dtype):
    for x in inputs(dtype):
        mask = x > 3
        for axis in (None, 0):
            for name in ("mean", "var", "sum", "any", "all"):
                compare(
                    getattr(np, name),
                    getattr(un, name),
                    x,
                    axis=axis,
                    where=mask,
                    exact=False,
                    relative=3e-5,
                )
            compare(np.max, un.max, x, axis=axis, initial=1, where=mask)
            compare(np.min, un.min, x, axis=axis, initial=1)
            compare(np.sum, un.sum, x, axis=axis, initial=1, exact=False, relative=3e-5)
            compare(np.max, un.max, x, axis=axis, where=mask)


@pytest.mark.parametrize("ddof", [0, 1, 2.5, 100])
def test_degrees_of_freedom(ddof):
    for x in inputs("float64"):
        compare(np.var, un.var, x, ddof=ddof, exact=False)
        compare(np.std, un.std, x, axis=-1, correction=ddof, exact=False)


def test_dtypes_and_outputs():
    x = np.arange(6, dtype="int32").reshape(2, 3)
    for dtype in ("float32", "float64"):
        compare(np.mean, un.mean, x, dtype=dtype)
        compare(np.sum, un.sum, x, axis=0, dtype=dtype)
    out = un.zeros(3)
    assert un.mean(x, 0, out=out) is out and out.tolist() == [1.5, 2.5, 3.5]
    assert un.asarray(x).sum(axis=0, out=out) is out and out.tolist() == [3, 5, 7]
    with pytest.raises(TypeError, match="mean: cannot cast"):
        un.mean(x, 0, out=un.zeros(3, dtype="int64"))
    with pytest.raises(ValueError, match="sum: out= has another shape"):
        un.asarray(x).sum(axis=1, out=out)


def test_methods_are_the_functions():
    x = np.random.default_rng(1).random((3, 5))
    a = un.asarray(x)
    for name in ("mean", "var", "std", "argmax", "argmin"):
        assert getattr(a, name)(axis=0).tolist() == getattr(un, name)(x, axis=0).tolist()
    assert float(a.max(1)[0]) == x.max(1)[0]


def test_averages():
    x = np.random.default_rng(2).random((4, 30))
    w = np.random.default_rng(3).random(30)
    for options in (
        {"weights": w, "axis": 1, "returned": True},
        {"weights": x * 2, "returned": True},
        {"axis": 0, "returned": True},
        {"weights": w},
        {"weights": w, "axis": 0},
        {"weights": w * 0, "axis": 1},
    ):
        compare(np.average, un.average, x, exact=False, **options)


def test_covariances():
    x = np.random.default_rng(4).random((4, 30))
    w = np.random.default_rng(5).random(30)
    f = (w * 10).astype("int64")
    for options in (
        {},
        {"aweights": w},
        {"fweights": f},
        {"bias": True, "aweights": w, "fweights": f},
        {"ddof": 2, "aweights": w},
        {"rowvar": False},
        {"y": x[::-1]},
        {"aweights": w[:3]},
        {"aweights": -w},
    ):
        compare(np.cov, un.cov, x, exact=False, relative=1e-10, **options)
    for options in ({}, {"rowvar": False}, {"y": x[::-1]}):
        compare(np.corrcoef, un.corrcoef, x, exact=False, relative=1e-10, **options)
    compare(np.cov, un.cov, x[0], exact=False)


@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value):RuntimeWarning")
@pytest.mark.parametrize("x, ddof", [([[1.0], [2.0]], None), ([[1.0, 2.0], [2.0, 4.0]], 3)])
def test_covariances_without_freedom_warn(x, ddof):
    with pytest.warns(RuntimeWarning, match="Degrees of freedom <= 0"):
        expected = np.cov(x, ddof=ddof)
    with pytest.warns(RuntimeWarning, match="Degrees of freedom <= 0"):
        np.testing.assert_array_equal(np.asarray(un.cov(x, ddof=ddof)), expected)


def test_threads_do_not_change_bits():
    x = np.random.default_rng(6).standard_normal(200_003)
    before = un.get_num_threads()
    seen = set()
    try:
        for threads in (1, 2, 3):
            un.set_num_threads(threads)
            a = un.asarray(x)
            seen.add((float(a.mean()), float(a.var()), float(un.std(a, ddof=1)), int(un.argmax(a))))
    finally:
        un.set_num_threads(before)
    assert len(seen) == 1


@pytest.mark.parametrize("dtype", dtypes)
def test_medians(dtype):
    for x in inputs(dtype):
        for axis in (None, 0, -1, (0, 1), 5):
            for name in ("median", "nanmedian"):
                compare(getattr(np, name), getattr(un, name), x, axis=axis, exact=False)
                compare(
                    getattr(np, name), getattr(un, name), x, axis=axis, keepdims=True, exact=False
                )


@pytest.mark.parametrize("count", [20_000, 100_001])
def test_medians_of_long_lanes(count):
    x = np.random.default_rng(count).standard_normal((2, count))
    for y in (x, x.astype("float32"), (x * 1e3).astype("int32"), np.zeros((2, count))):
        compare(np.median, un.median, y)
        compare(np.median, un.median, y, axis=1)
    x[1, 77] = np.nan
    compare(np.median, un.median, x, axis=1)


def test_bins_at_the_ends_of_the_format():
    x = np.array([-1.7e308, 1.7e308, 0.0, 1e308])
    counts, _ = un.histogram(x, np.linspace(-1.0, 1.0, 5) * 1.7e308)
    assert counts.tolist() == [1, 0, 1, 2]
    tiny = np.arange(5) * 5e-324
    counts = un._engine._count_in_bins(un.asarray(tiny), un.asarray(tiny), None, True)
    assert counts.tolist() == [1, 1, 1, 2]


methods = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear "
    "median_unbiased normal_unbiased lower higher midpoint nearest bogus"
).split()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
@pytest.mark.parametrize("method", methods)
def test_quantiles(dtype, method):
    for x in inputs(dtype):
        if x.size == 0:
            continue
        for q in (0.5, 0, 1.0, [0.1, 0.25, 0.9], [[0.0, 1.0], [0.3, 0.75]], 1.5):
            for name in ("quantile", "nanquantile"):
                options = {"method": method, "exact": False, "relative": 1e-5}
                compare(getattr(np, name), getattr(un, name), x, q, **options)
                compare(
                    getattr(np, name), getattr(un, name), x, q, axis=-1, keepdims=True, **options
                )
        compare(
            np.percentile,
            un.percentile,
            x,
            [20, 90],
            axis=0,
            method=method,
            exact=False,
            relative=1e-5,
        )
        compare(
            np.nanpercentile, un.nanpercentile, x, 20, method=method, exact=False, relative=1e-5
        )


def test_weighted_quantiles():
    r = np.random.default_rng(7)
    x, w = r.random((5, 6)), r.random((5, 6)).round(1)
    for q in (0, 0.3, [0.5, 1.0]):
        compare(np.quantile, un.quantile, x, q, method="inverted_cdf", weights=w)
        compare(np.quantile, un.quantile, x, q, axis=1, method="inverted_cdf", weights=w)
        compare(np.quantile, un.quantile, x, q, axis=1, method="inverted_cdf", weights=w[0])
        compare(np.quantile, un.quantile, x, q, weights=w)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", dtypes)
def test_nan_is_left_out(dtype):
    names = "nansum nanprod nanmax nanmin nanmean nanvar nanstd nanargmax nanargmin nancumsum nancumprod"
    for x in inputs(dtype):
        if x.ndim == 2 and x.dtype.kind == "f" and x.size:
            x[-1] = np.nan
        for name in names.split():
            if name.endswith("prod"):
                x = np.sign(x) if x.dtype.kind == "f" else x
            for axis in (None, 0, -1, 5):
                ours, theirs = getattr(un, name), getattr(np, name)
                compare(theirs, ours, x, axis=axis, exact=False, relative=3e-5)
        compare(np.nanvar, un.nanvar, x, ddof=2, exact=False, relative=3e-5)
        compare(np.nanmean, un.nanmean, x, keepdims=True, exact=False, relative=3e-5)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "float64"])
def test_histograms(dtype):
    for x in inputs(dtype):
        for bins in (10, 1, 7, [0, 3, 50, 90], [-1000, 1000], 0, "sqrt", [3, 1]):
            for options in ({}, {"range": (-5, 40)}, {"density": True}, {"range": (3, 1)}):
                compare(np.histogram, un.histogram, x, bins, exact=False, relative=1e-6, **options)
        compare(np.histogram, un.histogram, x, 10, weights=x, exact=False, relative=1e-5)
        compare(
            np.histogram, un.histogram, x, [0, 3, 50], weights=x * 0.5, exact=False, relative=1e-3
        )
    x = np.random.default_rng(8).standard_normal(200_000).astype("float64")
    compare(np.histogram, un.histogram, x, 100)
    compare(np.histogram, un.histogram, x, np.linspace(-2, 1, 37))


@pytest.mark.parametrize(
    "bins", ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt", "x"]
)
def test_automatic_bins(bins):
    r = np.random.default_rng(9)
    for x in (r.standard_normal(500), r.random(3), r.integers(0, 9, 100), np.zeros(5), np.zeros(0)):
        compare(np.histogram_bin_edges, un.histogram_bin_edges, x, bins, exact=False)
        compare(np.histogram_bin_edges, un.histogram_bin_edges, x, bins, range=(0, 1), exact=False)


def test_histograms_of_several_dimensions():
    r = np.random.default_rng(10)
    x, y, w = r.random(300), r.random(300) * 3, r.random(300)
    for options in (
        {"bins": 5},
        {"bins": [3, 4]},
        {"bins": [[0, 0.5, 1], 6], "density": True},
        {"bins": 4, "weights": w},
        {"bins": 4, "range": [(0, 0.5), (1, 2)]},
    ):
        compare(np.histogram2d, un.histogram2d, x, y, exact=False, **options)
        compare(lambda *a, **k: np.histogramdd(*a, **k)[0], lambda *a, **k: un.histogramdd(*a, **k)[0],
                np.stack([x, y], 1), exact=False, **options)  # fmt: skip
    compare(np.histogram2d, un.histogram2d, x, y, bins=[0.0, 0.4, 1.0], exact=False)
    for dtype in ("float16", "float32", "float64", "int32"):
        sample = np.stack([x, 3 * y], 1).astype(dtype)
        for made, expected in zip(
            un.histogramdd(sample, 3)[1], np.histogramdd(sample, 3)[1], strict=True
        ):
            assert made.dtype == expected.dtype and made.tolist() == expected.tolist()


def test_bincounts():
    r = np.random.default_rng(11)
    for n, high in ((0, 1), (1, 1), (50, 7), (300_000, 1000), (200_000, 3)):
        x = r.integers(0, high, n)
        compare(np.bincount, un.bincount, x)
        compare(np.bincount, un.bincount, x, minlength=9)
        compare(np.bincount, un.bincount, x, r.random(n), exact=False)
    for wrong in ([-1, 2], np.array([0.5]), [[1]]):
        compare(np.bincount, un.bincount, wrong)
    compare(np.bincount, un.bincount, [1, 2], [1.0])
    compare(np.bincount, un.bincount, [True, False])
    compare(np.bincount, un.bincount, [1], minlength=-1)


@pytest.mark.parametrize("name", ["percentile", "nanpercentile", "quantile", "nanquantile"])
def test_quantiles_fill_broader_outputs(name):
    x = np.array([[1.0, 4.0, 2.0], [5.0, 0.5, 3.0]])
    for q, axis, shape in ((0.5, None, (1,)), (0.5, 1, (3, 2)), ([0.2, 0.5], 0, (2, 3))):
        expected = getattr(np, name)(x, q, axis=axis, out=np.empty(shape))
        out = un.empty(shape)
        assert getattr(un, name)(un.asarray(x), q, axis=axis, out=out) is out
        np.testing.assert_allclose(np.asarray(out), expected, rtol=1e-14)
    with pytest.raises(ValueError, match="out= has another shape"):
        getattr(un, name)(un.asarray(x), 0.5, axis=1, out=un.empty(5))
