"""Functions of the namespace on every device, against NumPy: numbers and lists go where the arrays beside them are."""

import numpy as np
import pytest
import unisono as un

EXPRESSIONS = """
xp.take(z, [1, 2]) | xp.take(A, [[0, 4], [1, 2]], axis=1) | xp.take(z, [21, -1], mode="clip") | xp.compress([True, False], z[:2])
xp.compress([True, False, True], A[:3], axis=0) | xp.extract(m, z) | xp.take_along_axis(z, i, 0) | xp.choose(i % 2, [1.0, 2.0])
xp.choose([0, 1], [z[:2], z[5:7]]) | xp.select([m], [z]) | xp.select([m, z < 3], [z, z * 2], -1.0) | xp.piecewise(z, [m], [1.0, 2.0])
xp.percentile(z, 30) | xp.percentile(A, [10, 50], axis=0, method="nearest") | xp.quantile(z, 0.5) | xp.quantile(A, [0.25, 0.5], axis=1)
xp.quantile(z, 0.3, method="hazen") | xp.median(A, axis=0) | xp.nansum(w) | xp.nansum(W, axis=0) | xp.nanprod(w + 1)
xp.nanmean(w) | xp.nanmean(W, axis=1) | xp.nanstd(w) | xp.nanvar(W, axis=0) | xp.nanstd(W, axis=1, ddof=1) | xp.nanmin(w)
xp.nanmax(W, axis=1) | xp.nanmedian(W, axis=0) | xp.nanpercentile(w, 30) | xp.nanquantile(W, 0.3, axis=0) | xp.nanargmin(w)
xp.nanargmax(w) | xp.nancumsum(w) | xp.nancumprod(w) | xp.cross(A[:, :3], A[:, 1:4]) | xp.cross(A[:, :3], [1.0, 2.0, 3.0])
xp.outer(z, [1.0, 2.0]) | xp.kron(A, [1.0, 2.0]) | xp.tril(A) | xp.triu(A, 1) | A[xp.tril_indices_from(A)]
A[:4, :4][xp.diag_indices_from(A[:4, :4])] | xp.vander(z[:4]) | xp.gradient(z) | xp.gradient(A, axis=1) | xp.gradient(z[:3], [0.0, 1.0, 3.0])
xp.diff(z, prepend=0.0) | xp.diff(z, prepend=[0.0], append=[9.0]) | xp.ediff1d(z, to_end=[1.0]) | xp.trapezoid(z[:3], [0.0, 1.0, 3.0])
xp.interp(z, [0.0, 5.0, 20.0], [0.0, 1.0, 2.0]) | xp.insert(z, 1, 2.0) | xp.insert(A, 1, z[:4], axis=1) | xp.append(z, 3.0)
xp.append(A, [[3.0] * 5], axis=0) | xp.delete(z, 1) | xp.repeat(z[:3], [1, 2, 3]) | xp.resize(z, (3, 3)) | xp.intersect1d(i, i + 1)
xp.union1d(i, [9]) | xp.setdiff1d(i, [1, 2]) | xp.setxor1d(i, i + 1) | xp.isin(i, [1, 2]) | xp.isin(i, []) | xp.unique(A % 3, axis=0)
xp.searchsorted(z, 3.0) | xp.searchsorted(z, [3.0, 4.5]) | xp.searchsorted([3.0, 9.0], z) | xp.digitize(z, [3.0, 9.0])
xp.histogram(z, [0.0, 5.0, 10.0])[0] | xp.histogram_bin_edges(z, 5) | xp.histogram2d(z, z)[0] | xp.histogramdd((z, z * 2), (3, [0.0, 9.0, 40.0]))[0]
xp.add.reduceat(z, [0, 3]) | xp.maximum.reduceat(A, [0, 3], axis=1) | xp.add.outer(z, [1.0, 2.0]) | xp.subtract.outer(2.0, z)
xp.add.reduce(A, axis=0, where=A > 3) | xp.multiply.reduce(z, initial=2.0) | xp.maximum.reduce(A, axis=1, initial=12.0) | xp.max(z, initial=3.0)
xp.sum(A, axis=1, initial=3.0) | xp.max(A[:0], axis=0, initial=3.0) | xp.mean(z, where=m) | xp.average(A, axis=1, weights=[1.0, 2.0, 3.0, 4.0, 5.0])
xp.average(z, returned=True) | xp.cov(z, z * 2) | xp.corrcoef(z, z[::-1]) | xp.cov(A, fweights=[1, 2, 1, 1, 1])
xp.cov(A, aweights=[1.0, 2.0, 1.0, 1.0, 1.0]) | xp.pad(z, 2, mode="reflect") | xp.pad(A, 1, mode="wrap") | xp.pad(z, 2, mode="linear_ramp")
xp.isclose(z, [1.0] * 20) | xp.ldexp(z, 2) | xp.linspace(z[:3], 9.0, 4) | xp.logspace(0.0, z[:3], 4)
xp.polyadd(z[:3], [1.0, 2.0]) | xp.polysub(z[:3], z[:2]) | xp.polymul([1.0, 2.0], z[:3]) | xp.polydiv(z[1:5], z[1:3]) | xp.polyder(z[:4])
xp.polyint(z[:3]) | xp.poly(z[:3]) | xp.packbits(m) | xp.unpackbits(xp.packbits(m), count=30) | xp.linalg.matrix_power(A[:4, :4], 0)
xp.cumulative_sum(z, include_initial=True) | xp.add(z, 1.0, where=m, out=None)[11:] | xp.add(z, 1, dtype="float64") | xp.logaddexp(z, 1.0)
"""
STATEMENTS = """
xp.place(z, m, [1.0, 2.0]) | xp.putmask(z, m, 2.0) | xp.putmask(z, m, [2.0, 3.0]) | xp.add.at(z, i, 1.0) | xp.add.at(z, i, [1.0] * 5)
xp.put(z, i, 1.0) | xp.put(z, [1, 2], [1.0, 5.0]) | xp.copyto(z, [1.0] * 20) | xp.copyto(z, 1.0, where=m)
xp.copyto(z, 1.0, where=[True, False] * 10) | xp.put_along_axis(z, i, 1.0, 0) | xp.fill_diagonal(A, 2.0) | xp.fill_diagonal(A, [1.0, 2.0])
xp.fill_diagonal(A.T[:4, :1], 2.0, wrap=True)
"""


def cases(text):
    return [part.strip() for line in text.split("\n") for part in line.split(" | ") if part.strip()]


def operands(place):
    z = np.arange(20.0)
    w = np.where(z % 4 == 1, np.nan, z)
    arrays = {"z": z, "A": z.reshape(4, 5), "w": w, "W": w.reshape(4, 5), "m": z > 10}
    arrays["i"] = np.array([3, 1, 4, 0, 2])
    return {name: place(a.copy()) for name, a in arrays.items()}


def same(got, expected, device):
    if isinstance(expected, tuple):
        assert len(got) == len(expected)
        for part, other in zip(got, expected, strict=True):
            same(part, other, device)
        return
    if isinstance(got, un.ndarray):
        assert got.device == device
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("expression", cases(EXPRESSIONS))
def test_function(device, expression):
    there = operands(lambda a: un.asarray(a, device=device))
    got = eval(expression, {"xp": un, **there})
    same(got, eval(expression, {"xp": np, **operands(np.asarray)}), there["z"].device)


@pytest.mark.parametrize("statement", cases(STATEMENTS))
def test_function_that_writes(device, statement):
    there, here = operands(lambda a: un.asarray(a, device=device)), operands(np.asarray)
    eval(statement, {"xp": un, **there})
    eval(statement, {"xp": np, **here})
    for name in "zA":
        same(there[name], here[name], there["z"].device)


WITH_ANOTHER = [
    lambda x, other: un.take(x, other),
    lambda x, other: un.append(x, other),
    lambda x, other: un.searchsorted(x, other),
    lambda x, other: un.add.outer(x, other),
    lambda x, other: un.put(x, [0, 1], other),
]


@pytest.mark.parametrize("call", WITH_ANOTHER)
def test_arrays_elsewhere_are_refused(device, call):
    x = un.arange(5, device=device)
    if x.device == "cpu":
        pytest.skip("needs a device beside the host")
    with pytest.raises(un.DeviceError, match="different devices"):
        call(x, un.arange(2))


@pytest.mark.parametrize("call", WITH_ANOTHER)
def test_numpys_arrays_go_to_the_device(device, call):
    x, y = un.arange(5, device=device), un.arange(5)
    before = un.stats()["bytes_copied"]
    got, expected = call(x, np.arange(2)), call(y, np.arange(2))
    if device != "cpu":
        assert un.stats()["bytes_copied"] > before
    for one, other in ((got, expected), (x, y)):
        if one is not None:
            assert one.device == device
            np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


@pytest.mark.parametrize("value", [2 + 3j, [1.0, 2.0, 3.0], (1, 2, 3), np.complex64(1j), True])
def test_full_of_numbers_and_lists(device, value):
    if not device.has_float64:
        pytest.skip("has no float64")
    made = un.full((2, 3), value, device=device)
    assert made.device == device
    np.testing.assert_array_equal(np.asarray(made.to_device("cpu")), np.full((2, 3), value))


def test_full_of_an_array_elsewhere_is_refused(device):
    if device == "cpu":
        pytest.skip("there is no other place")
    with pytest.raises(un.DeviceError, match="operands live on different devices"):
        un.full((2, 3), un.ones(3), device=device)


def test_numpys_arrays_are_compared_on_the_device_of_the_other(device):
    host = np.array([1.0, 2.0, np.nan])
    for ours in (un.asarray(host, device=device), un.asarray(host, device="cpu")):
        with un.device(device):
            assert np.array_equal(ours, host, equal_nan=True)
            assert un.array_equal(host, ours, equal_nan=True) and not un.array_equal(host, ours)
            assert un.isclose(ours, host, equal_nan=True).all()
            assert not un.array_equiv(ours, host)
