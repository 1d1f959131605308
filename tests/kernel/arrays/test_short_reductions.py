"""Reductions of short rows in compiled functions have the bits of the arrays' own."""

import numpy as np
import pytest
import unisono as un


@un.jit
def reduced(a):
    return (
        a.sum(),
        a.prod(),
        a.max(),
        a.min(),
        a.mean(),
        (a * 2 + 1).sum(),
        np.argmax(a),
        np.argmin(a),
        (a * a).argmax(),
    )


def own(a):
    x = un.asarray(a)
    return (
        x.sum(),
        x.prod(),
        x.max(),
        x.min(),
        x.mean(),
        (x * 2 + 1).sum(),
        np.argmax(a),
        np.argmin(a),
        (a * a).argmax(),
    )


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
@pytest.mark.parametrize("n", [*range(1, 20), 31, 32, 33, 40])
def test_same_bits(n, dtype):
    a = (np.random.default_rng(n).standard_normal(n) * 100).astype(dtype)
    for given in (a, a[::-1], np.repeat(a, 2)[::2]):
        for ours, theirs in zip(reduced(given), own(given), strict=True):
            assert np.asarray(ours).tobytes() == np.asarray(theirs, type(ours)).tobytes()


@pytest.mark.parametrize("n", [3, 6, 9])
@pytest.mark.parametrize("at", [0, 2, -1])
def test_nan_and_zeros(n, at):
    a = np.zeros(n)
    a[1:] = -0.0
    assert str(reduced(a)) == str(
        tuple(type(x)(y) for x, y in zip(reduced(a), own(a), strict=True))
    )
    a[at] = np.nan
    found = reduced(a)
    assert np.isnan(found[:6]).all()
    assert found[6:8] == (a.argmax(), a.argmin())
