"""Libraries that compute with arrays of any package: einops, xarray, dask; and what they ask of dtypes."""

import copy
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import unisono as un

h = np.arange(12.0).reshape(3, 4)
h[1, 2] = np.nan


def same(ours, expected):
    """Our array (or a number) with NumPy's dtype and elements."""
    assert isinstance(ours, (un.ndarray, float)) and ours.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(ours), expected)


def test_dtypes_are_instances_of_numpys_class_where_numpy_is_loaded():
    for name in ("bool", "int8", "uint64", "float16", "float32", "float64", "complex64"):
        ours, theirs = getattr(un, name), np.dtype(name)
        assert isinstance(ours, np.dtype) and isinstance(ours, un.dtype)
        assert type(ours) is un.dtype and ours == theirs and np.dtype(ours) == theirs
        assert np.isdtype(ours, theirs.type) and np.issubdtype(ours, theirs.type)
        assert np.result_type(ours, np.int8) == np.result_type(theirs, np.int8)
        assert np.empty(2, ours).dtype == theirs and np.can_cast(ours, "complex128")
        assert pickle.loads(pickle.dumps(ours)) is ours and copy.deepcopy(ours) is ours


def test_dtypes_are_of_the_packages_class_where_numpy_is_not_loaded():
    program = """
import sys
import unisono as un
assert "numpy" not in sys.modules
assert isinstance(un.float32, un.dtype) and un.float32.__class__ is un.dtype
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_priority_of_arrays_is_numpys():
    assert un.ones(2).__array_priority__ == np.ones(2).__array_priority__


def test_einops():
    einops = pytest.importorskip("einops")
    x = un.asarray(h)
    same(einops.rearrange(x, "a b -> b a"), h.T)
    same(einops.reduce(x, "a (b c) -> a b", "max", c=2), h.reshape(3, 2, 2).max(2))
    same(einops.reduce(x, "a b -> ", "sum"), h.sum())
    same(einops.repeat(x, "a b -> a b r", r=2), np.repeat(h[..., None], 2, 2))
    same(einops.einsum(x, x, "a b, c b -> a c"), np.einsum("ab,cb->ac", h, h))
    packed, shapes = einops.pack([x, x], "a *")
    same(packed, np.hstack([h, h]))
    same(einops.unpack(packed, shapes, "a *")[1], h)
    same(einops.rearrange([x, x], "n a b -> a n b"), np.stack([h, h], 1))
    assert isinstance(einops.asnumpy(x), np.ndarray)


def test_einops_imported_first():
    pytest.importorskip("einops")
    program = """
import einops
import unisono as un
assert einops.rearrange(un.ones((2, 3)), "a b -> b a").shape == (3, 2)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


xarrays = {
    "where": lambda d, xr: d.where(d > 3),
    "where, dropped": lambda d, xr: d.where(d > 3, drop=True),
    "where of integers": lambda d, xr: d.fillna(0).astype("int32").where(d > 3),
    "where of bools": lambda d, xr: (d > 1).where(d > 3),
    "shift": lambda d, xr: d.shift(x=1),
    "shift of integers": lambda d, xr: d.fillna(0).astype("int16").shift(x=1),
    "fillna": lambda d, xr: d.fillna(0.0),
    "rolling mean": lambda d, xr: d.rolling(y=2).mean(),
    "rolling max": lambda d, xr: d.rolling(x=2, min_periods=1).max(),
    "rolling window": lambda d, xr: d.rolling(y=3).construct("w"),
    "pad": lambda d, xr: d.pad(x=1),
    "reindex": lambda d, xr: d.reindex(x=[10, 15, 20]),
    "outer concat": lambda d, xr: xr.concat([d.isel(y=[0, 1]), d.isel(y=[1, 2])], "z"),
    "cov": lambda d, xr: xr.cov(d, d * 2, "x"),
    "weighted": lambda d, xr: d.weighted(d.x * 1.0).mean("x"),
    "differentiate": lambda d, xr: d.differentiate("x"),
    "groupby": lambda d, xr: d.groupby("x").mean(...),
    "interp": lambda d, xr: d.interp(x=15),
    "quantile": lambda d, xr: d.quantile(0.3, "x"),
}


@pytest.mark.parametrize("name", xarrays)
def test_xarray(name):
    xr = pytest.importorskip("xarray")

    def run(convert):
        named = {"x": [10, 20, 30], "y": list("abcd")}
        return xarrays[name](xr.DataArray(convert(h), dims=("x", "y"), coords=named), xr)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's of means of nothing
        ours, expected = run(un.asarray), run(np.asarray)
    assert ours.dims == expected.dims and ours.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(ours.data), expected.data, rtol=1e-13)


def test_dask():
    da = pytest.importorskip("dask.array")
    filled = np.nan_to_num(h)
    for call in (
        lambda d: da.percentile(d[:, 0], [10, 50]),
        lambda d: da.tensordot(d, d, axes=([0], [0])),
        lambda d: da.cov(d),
        lambda d: d.std(axis=0),
        lambda d: d.mean(),
        lambda d: d.T @ d,
        lambda d: d.map_overlap(lambda block: block + 1, depth=1),
    ):
        ours, expected = (
            call(da.from_array(convert(filled), chunks=2)).compute()
            for convert in (un.asarray, np.asarray)
        )
        assert isinstance(ours, (un.ndarray, float))
        np.testing.assert_allclose(np.asarray(ours), expected, rtol=1e-13)
