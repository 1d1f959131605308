"""Groups of complex operations compiled: the bits of the precompiled loops."""

import itertools

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

SPECIAL = [0.0, -0.0, 1.0, -2.5, 3e-5, 1e200, float("inf"), float("-inf"), float("nan")]


def step(z, w):
    return z * w - z / w + w * 2


def chosen(z, w):
    return un.where(abs(z) > 1, z, -w) + (z == w) - (z != w)


def orders(z, w):
    return un.minimum(z, w) * un.sign(z) + un.isfinite(w) + un.isnan(z)


def parts(z, w):
    return z.real * w + w.imag - un.conj(z)


def casts(z, w):
    return (z + w).astype("complex64") * w.astype("complex64")


def run(function, executor, dtype):
    un._engine._set_setting("executor", executor)
    values = np.array([complex(x, y) for x, y in itertools.product(SPECIAL, SPECIAL)], dtype)
    z = un.asarray(np.repeat(values, len(values)).reshape(81, 81).copy())
    w = un.asarray(np.tile(values, len(values)).reshape(81, 81).copy())
    results = [function(z, w), function(z[::2], w[::-2]), function(z.T, w[:1])]
    z[1:] += w[:-1] * 2
    w[:, 0] = z[0]
    return [np.array(r) for r in (*results, z, w)]


@pytest.fixture(autouse=True)
def executor_afterwards():
    yield
    un._engine._set_setting("executor", "auto")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("function", [step, chosen, orders, parts, casts], ids=lambda f: f.__name__)
def test_bits(function, dtype):
    with np.errstate(all="ignore"):
        wanted = run(function, "block", dtype)
        for executor in ("interp", "cpu"):
            for got, want in zip(run(function, executor, dtype), wanted, strict=True):
                assert got.dtype == want.dtype
                for a, b in ((got.real, want.real), (got.imag, want.imag)):
                    np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
                    known = ~np.isnan(a)
                    np.testing.assert_array_equal(a[known], b[known])
                    np.testing.assert_array_equal(np.signbit(a[known]), np.signbit(b[known]))
