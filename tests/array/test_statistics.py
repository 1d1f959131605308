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
