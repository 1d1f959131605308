"""Factorisations and what is solved by them on every device, beside NumPy's."""

import os
import subprocess
import sys

import numpy as np
import pytest
import unisono as un
from device_arrays import both, same


def test_products_with_both_sides_of_a_matrix(device):
    # On the host they share a pass over the matrix.
    rng = np.random.default_rng(1)
    m, right, left = rng.random((700, 501)), rng.random(501), rng.random(700)
    a, x, y = (un.asarray(v, device=device) for v in (m, right, left))
    un.eval()
    for _ in range(3):
        one, two = a @ x, y @ a
        un.eval(one, two)
        np.testing.assert_allclose(host(one), m @ right, rtol=1e-12)
        np.testing.assert_allclose(host(two), left @ m, rtol=1e-12)


def host(x):
    return np.asarray(x.to_device("cpu"))


DTYPES = ["float32", "float64", "complex64", "complex128"]
STACKS = [(1, 1), (5, 5), (32, 32), (3, 7, 7), (2, 2, 40, 40), (150, 150), (0, 3, 3)]
RECTANGLES = [(1, 1), (5, 3), (3, 5), (2, 40, 33), (2, 33, 70), (130, 65), (0, 3, 2)]


def tolerance(dtype):
    return 2e-4 if dtype in ("float32", "complex64") else 1e-11


def matrices(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype[0] == "c" else 0)
    return a.astype(dtype)


def regular(shape, dtype):
    return matrices(shape, dtype) + 3 * np.sqrt(shape[-1]) * np.eye(shape[-1], dtype=dtype)


def positive(shape, dtype):
    a = matrices(shape, dtype)
    return (a @ a.conj().swapaxes(-1, -2) / shape[-1] + np.eye(shape[-1])).astype(dtype)


def close(got, expected, dtype, device):
    assert got.device == device and got.dtype == expected.dtype and got.shape == expected.shape
    if expected.size:
        scale = max(1.0, float(abs(expected).max()))
        assert abs(np.asarray(got) - expected).max() <= tolerance(dtype) * scale


@pytest.mark.parametrize("shape", STACKS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_systems(device, dtype, shape):
    a, b = regular(shape, dtype), matrices((*shape[:-1], 3), dtype, 1)
    x, y = both(device, a, b)
    close(un.linalg.solve(x, y), np.linalg.solve(a, b), dtype, device)
    close(un.linalg.solve(x, y[..., :1]), np.linalg.solve(a, b[..., :1]), dtype, device)
    close(un.linalg.inv(x), np.linalg.inv(a), dtype, device)
    sign, logarithm = un.linalg.slogdet(x)
    expected = np.linalg.slogdet(a)
    if shape[-1] < 20:
        np.testing.assert_allclose(
            np.asarray(un.linalg.det(x)), np.linalg.det(a), rtol=20 * tolerance(dtype)
        )
    np.testing.assert_allclose(np.asarray(sign), expected[0], atol=tolerance(dtype))
    np.testing.assert_allclose(np.asarray(logarithm), expected[1], rtol=tolerance(dtype))


def test_pivots(device):
    """Rows are exchanged: inside panels and between them."""
    rng = np.random.default_rng(2)
    order = rng.permutation(100)
    a = np.eye(100)[order] * rng.integers(1, 9, 100)
    (x,) = both(device, a)
    same(un.linalg.inv(x), np.linalg.inv(a))
    assert float(un.linalg.slogdet(x)[0]) == np.linalg.slogdet(a)[0]
    same(un.linalg.solve(x, x[:, 3]), np.linalg.solve(a, a[:, 3]))


def test_determinants_out_of_range(device):
    a = np.stack([np.eye(30) * 1e20, np.eye(30) * 1e-20, np.zeros((30, 30))])
    a[0, 20:, 20:] *= 1e-40
    (x,) = both(device, a)
    np.testing.assert_allclose(np.asarray(un.linalg.det(x)), [1e200, 0, 0], rtol=1e-9)
    sign, logarithm = un.linalg.slogdet(x)
    same(sign, np.array([1.0, 1.0, 0.0]))
    np.testing.assert_allclose(
        np.asarray(logarithm), np.linalg.slogdet(a)[1], rtol=1e-12, atol=1e-9
    )


@pytest.mark.parametrize("shape", STACKS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky(device, dtype, shape):
    a = positive(shape, dtype)
    (x,) = both(device, a + np.triu(np.full(shape[-2:], 9, dtype), 1))  # which is not read
    expected = np.linalg.cholesky(a)
    close(un.linalg.cholesky(x), expected, dtype, device)
    (x,) = both(device, a + np.tril(np.full(shape[-2:], 9, dtype), -1))
    close(un.linalg.cholesky(x, upper=True), expected.conj().swapaxes(-1, -2), dtype, device)


@pytest.mark.parametrize("shape", RECTANGLES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_qr(device, dtype, shape):
    """The same signs as LAPACK's, so factors are compared one by one."""
    a = matrices(shape, dtype)
    (x,) = both(device, a)
    for mode in ("reduced", "complete", "raw"):
        for got, expected in zip(un.linalg.qr(x, mode), np.linalg.qr(a, mode), strict=True):
            if mode != "complete" or expected.shape[-1] != shape[-2] or shape[-2] <= shape[-1]:
                close(got, expected, dtype, device)
    q, r = un.linalg.qr(x, "complete")
    close(q @ r, a, dtype, device)
    close(un.linalg.qr(x, "r"), np.linalg.qr(a, "r"), dtype, device)


def faults(a, b):
    return [
        (lambda xp, x, y: xp.linalg.solve(x, y), (a, b)),
        (lambda xp, x, y: xp.linalg.inv(x), (a, b)),
        (lambda xp, x, y: xp.linalg.cholesky(-x), (a + np.eye(a.shape[-1]), b)),
    ]


@pytest.mark.parametrize("n", [2, 70])
def test_faults(device, n):
    """The exceptions and messages of the host, at the statement."""
    good = np.eye(n) * 2
    for a in (np.ones((n, n)), np.stack([good, good, np.ones((n, n)), good])):
        b = np.ones((*a.shape[:-1], 2))
        for run, arrays in faults(a, b):
            with pytest.raises(un.linalg.LinAlgError) as near:
                run(un, *both("cpu", *arrays))
            with pytest.raises(un.linalg.LinAlgError) as far:
                run(un, *both(device, *arrays))
            assert str(far.value) == str(near.value)
            with pytest.raises(np.linalg.LinAlgError):
                run(np, *arrays)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", RECTANGLES)
def test_singular_values(device, dtype, shape):
    a = matrices(shape, dtype)
    (x,) = both(device, a)
    for full in (False, True):
        u, s, vh = un.linalg.svd(x, full_matrices=full)
        expected = np.linalg.svd(a, full_matrices=full)
        close(s, expected[1], dtype, device)
        assert (u.shape, vh.shape) == (expected[0].shape, expected[2].shape)
        k = s.shape[-1]
        close((u[..., :k] * s[..., None, :].astype(dtype)) @ vh[..., :k, :], a, dtype, device)
    close(un.linalg.svd(x, compute_uv=False), expected[1], dtype, device)
    if a.size:
        close(un.linalg.pinv(x), np.linalg.pinv(a), dtype, device)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", STACKS)
def test_eigenvalues(device, dtype, shape):
    a = positive(shape, dtype)
    (x,) = both(device, a)
    w, v = un.linalg.eigh(x)
    close(w, np.linalg.eigvalsh(a), dtype, device)
    close(v * w[..., None, :].astype(dtype), a @ np.asarray(v), dtype, device)
    (upper,) = both(device, np.triu(a))
    close(un.linalg.eigvalsh(upper, "U"), np.linalg.eigvalsh(a), dtype, device)
    a = matrices(shape, dtype)
    (x,) = both(device, a)
    w, v = un.linalg.eig(x)
    assert w.device == v.device == device
    assert (w.dtype, v.dtype) == tuple(y.dtype for y in np.linalg.eig(a))
    of_triangle = un.linalg.eig(both(device, np.triu(a))[0]).eigenvalues
    assert of_triangle.device == device and of_triangle.dtype == a.dtype
    np.testing.assert_allclose(
        np.asarray(x) @ np.asarray(v),
        np.asarray(v) * np.asarray(w)[..., None, :],
        atol=tolerance(dtype) * 10 * max(1, shape[-1]),
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_least_squares(device, dtype):
    for m, n in ((20, 6), (6, 20)):
        a, b = matrices((m, n), dtype), matrices((m, 2), dtype, 1)
        x, y = both(device, a, b)
        got, expected = un.linalg.lstsq(x, y), np.linalg.lstsq(a, b)
        close(got[0], expected[0], dtype, device)
        close(got[3], expected[3], dtype, device)
        assert int(got[2]) == expected[2]
        np.testing.assert_allclose(np.asarray(got[1]), expected[1], rtol=tolerance(dtype))


def test_results_depend_on_what_was_written_before(device):
    """Factorisations wait for the statements that write their operands, and later ones for them."""
    a = regular((40, 40), "float64")
    (x,) = both(device, a)
    y = x * 2
    made = un.linalg.inv(y)
    y[...] = 0
    values = un.linalg.svd(x + x, compute_uv=False)
    x[...] = 0
    np.testing.assert_allclose(np.asarray(made + 1), np.linalg.inv(2 * a) + 1)
    np.testing.assert_allclose(np.asarray(values), np.linalg.svd(2 * a, compute_uv=False))


PROGRAM = """
import numpy as np, unisono as un
device, = [d for d in un.devices() if str(d) != "cpu"][:1]
a = np.random.default_rng(0).normal(size=(20, 20)).astype("float32")
x = un.asarray(a, device=device)
assert abs(np.asarray(un.fft.rfft(x)) - np.fft.rfft(a)).max() < 1e-4
assert abs(np.asarray(un.linalg.inv(x) @ x) - np.eye(20)).max() < 1e-3
c = (a + 1j * a.T).astype("complex64")
q, r = un.linalg.qr(un.asarray(c, device=device))
assert abs(np.asarray(q) @ np.asarray(r) - c).max() < 1e-4
draws = [un.random.Generator(un.random.Philox(1)).random(9, "float32", device=d) for d in (device, "cpu")]
assert np.array_equal(*map(np.asarray, draws))
try:
    un.random.Generator(un.random.Philox(1)).random(9, device=device).tolist()
except un.UnsupportedError as error:
    assert "float64" in str(error)
else:
    raise AssertionError("float64 on a device without it")
"""


def test_without_float64(device):
    """In single precision nothing asks for double."""
    if device == "cpu":
        pytest.skip("the host has float64")
    environment = {**os.environ, "UNISONO_DEVICE_FLOAT64": "0"}
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True)
