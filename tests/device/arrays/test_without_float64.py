"""A device without float64, simulated: arrays of it are refused when they are made; float32 computes."""

import os
import subprocess
import sys

import pytest
import unisono as un

SAFETY_NET = 240

PROGRAM = """
import inspect
import numpy as np
import pytest
import unisono as un

(d, *_) = un.devices("opencl")
assert not d.has_float64 and "fp64" not in d.aspects
REFUSAL = f"device '{d.name}' has no float64; got an array of float64; use dtype=\\"float32\\""


def refused(make, text=REFUSAL):
    with pytest.raises(un.UnsupportedError) as caught:
        make()
    assert text in str(caught.value), caught.value


refused(lambda: un.zeros(3, device=d))
refused(lambda: un.asarray(np.arange(3.0), device=d))
refused(lambda: un.asarray([1.5, 2], device=d))
refused(lambda: un.ones(3).to_device(d))
refused(lambda: un.zeros(3, dtype=complex, device=d), "an array of complex128; use dtype=\\"complex64\\"")
k = un.arange(5, device=d)
refused(lambda: k / 2)
refused(lambda: k + 0.5)
refused(lambda: k.astype(float))
refused(lambda: un.sqrt(k))
refused(lambda: k.mean())

# What needs none works.
a = np.linspace(-3, 3, 1001, dtype=np.float32)
x = un.asarray(a, device=d)
assert x.dtype == np.float32
host = lambda y: np.asarray(y.to_device("cpu"))
np.testing.assert_array_equal(host(x * 2.5 + 1), a * np.float32(2.5) + np.float32(1))
np.testing.assert_allclose(host(un.exp(x) + un.sin(x)), np.exp(a) + np.sin(a), rtol=2e-6, atol=1e-6)
np.testing.assert_allclose(float(x.sum()), a.sum(), atol=1e-3)
np.testing.assert_allclose(float((x * x).mean()), (a * a).mean(), rtol=1e-5)
assert float(x.max()) == a.max()
np.testing.assert_array_equal(host(un.sort(-x)), np.sort(-a))
np.testing.assert_array_equal(host(x[x > 1]), a[a > 1])
np.testing.assert_array_equal(host(un.asarray(np.arange(3.0), dtype=np.float32, device=d)), [0, 1, 2])
np.testing.assert_array_equal(host(k * 3 - 1), np.arange(5) * 3 - 1)
m = un.asarray(np.eye(4, dtype=np.float32) * 2, device=d)
np.testing.assert_array_equal(host(m @ m), np.eye(4, dtype=np.float32) * 4)
np.testing.assert_array_equal(
    host(un.linspace(0, 1, 7, dtype="float32", device=d)), np.linspace(0, 1, 7, dtype="float32")
)
refused(lambda: un.linspace(0, 1, 7, device=d))
for bins in (9, np.float32([-2, -1.5, 0, 2.5])):
    counts, edges = un.histogram(x, bins)
    theirs = np.histogram(a, bins)
    np.testing.assert_array_equal(host(counts), theirs[0])
    np.testing.assert_array_equal(host(edges), theirs[1].astype(np.float32))
for draw in (
    lambda g, **where: g.random(1000, dtype="float32", **where),
    lambda g, **where: g.standard_normal(1000, dtype="float32", **where),
    lambda g, **where: g.standard_exponential(1000, dtype="float32", **where),
    lambda g, **where: g.standard_gamma(2.5, 1000, dtype="float32", **where),
    lambda g, **where: g.poisson(3.5, 1000, **where),
    lambda g, **where: g.integers(-5, 9, 1000, **where),
):
    generators = [un.random.Generator(un.random.Philox(7)) for _ in range(2)]
    there = draw(generators[0], device=d)
    assert there.device == d
    np.testing.assert_array_equal(host(there), np.asarray(draw(generators[1])))
refused(lambda: un.random.Generator(un.random.Philox(7)).standard_normal(3, device=d))

# Functions of complex64 in float32, near the ends of its range, too.
z = (a + 1j * a[::-1] * np.float32(0.7)).astype(np.complex64)
for scale in (1, 1e-4, 1e25, 1e-25):
    c = (z * np.float32(scale)).astype(np.complex64)
    y = un.asarray(c, device=d)
    for f in ("abs", "sqrt", "log", "sign", "arcsin", "arccos", "arctan", "arctanh", "arccosh", "arcsinh", "log1p"):
        expected = getattr(np, f)(c.astype(np.complex128))
        least = 2e-7 if f == "log1p" else 1e-6 * scale
        np.testing.assert_allclose(host(getattr(un, f)(y)), expected, rtol=1e-5, atol=least)
    if scale <= 1:
        for f in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "expm1", "exp2"):
            expected = getattr(np, f)(c.astype(np.complex128))
            np.testing.assert_allclose(host(getattr(un, f)(y)), expected, rtol=1e-5, atol=1e-6 * scale)
large = un.exp(un.asarray(np.array([88 + 1j, 85 - 2j, -90 + 3j], np.complex64), device=d))
np.testing.assert_allclose(host(large), np.exp(np.array([88 + 1j, 85 - 2j, -90 + 3j])), rtol=2e-5)
for method in ("linear", "nearest", "midpoint", "weibull"):
    expected = np.quantile(a, 0.3, method=method)
    np.testing.assert_allclose(float(un.quantile(x, 0.3, method=method)), expected, rtol=1e-6)
assert un.percentile(x, 12.5).dtype == np.float32

# Factors of float32 and complex64.
for t in (np.float32, np.complex64):
    h = np.outer(z[:50], z[:50].conj()).astype(t) + np.diag(np.arange(50)).astype(t)
    g = un.asarray(h, device=d)
    w, v = (host(q) for q in un.linalg.eigh(g))
    np.testing.assert_allclose(h @ v, v * w, atol=2e-3)
    q, s, r = (host(p) for p in un.linalg.svd(g))
    np.testing.assert_allclose((q * s) @ r, h, atol=2e-3)


@un.jit
def scaled(x, f, out):
    for i in un.prange(x.shape[0]):
        out[i] = x[i] * f


out = un.empty_like(x)
scaled(x, np.float32(2), out)
np.testing.assert_array_equal(host(out), a * 2)
print("all well")
"""


@pytest.mark.skipif(not un.devices("opencl"), reason="no OpenCL device")
def test_programs_without_float64():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=SAFETY_NET,
        env={**os.environ, "UNISONO_DEVICE_FLOAT64": "0"},
    )
    assert done.returncode == 0 and "all well" in done.stdout, done.stdout + done.stderr
