"""Discrete Fourier transforms on every device, beside NumPy's."""

import numpy as np
import pytest
import unisono as un
from device_arrays import both

# Powers, other factors, primes that have a pass of their own, primes that have none, and lengths that are
# cut into matrices.
LENGTHS = [
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    12,
    15,
    16,
    45,
    61,
    64,
    67,
    100,
    134,
    625,
    1009,
    1024,
    2187,
    5000,
    8192,
    30_030,
]


def close(got, expected, dtype="float64"):
    """Within some ULP of the largest element for each factor of the length."""
    got = np.asarray(got)
    single = dtype in ("float32", "complex64")
    assert got.shape == expected.shape
    assert got.dtype == (
        expected.dtype if not single else np.empty(0, expected.dtype).astype(
            "complex64" if expected.dtype.kind == "c" else "float32").dtype
    )  # fmt: skip
    largest = max(1e-30, abs(expected).max())
    assert abs(got - expected).max() <= largest * (2e-6 if single else 2e-15 * 4)


@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(device, n):
    rng = np.random.default_rng(n)
    a = rng.normal(size=(2, n)) + 1j * rng.normal(size=(2, n))
    x, r = both(device, a, a.real.copy())
    got = un.fft.fft(x)
    assert got.device == device
    close(got, np.fft.fft(a))
    close(un.fft.ifft(x), np.fft.ifft(a))
    close(un.fft.rfft(r), np.fft.rfft(a.real))
    close(un.fft.ihfft(r), np.fft.ihfft(a.real))
    close(un.fft.irfft(x, n), np.fft.irfft(a, n))
    close(un.fft.hfft(x, n), np.fft.hfft(a, n))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [48, 67, 2050])
def test_dtypes(device, dtype, n):
    rng = np.random.default_rng(1)
    a = (rng.normal(size=(5, n)) + 1j * rng.normal(size=(5, n))).astype(dtype)
    wide = a.astype("complex128" if a.dtype.kind == "c" else "float64")
    (x,) = both(device, a)
    close(un.fft.fft(x), np.fft.fft(wide), dtype)
    close(un.fft.ifft(x), np.fft.ifft(wide), dtype)
    close(un.fft.irfft(x), np.fft.irfft(wide), dtype)
    if a.dtype.kind == "f":
        close(un.fft.rfft(x), np.fft.rfft(wide), dtype)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_axes_and_strides(device, axis):
    rng = np.random.default_rng(2)
    a = rng.normal(size=(12, 10, 14)) + 1j * rng.normal(size=(12, 10, 14))
    (x,) = both(device, a)
    for norm in ("backward", "ortho", "forward"):
        close(un.fft.fft(x, axis=axis, norm=norm), np.fft.fft(a, axis=axis, norm=norm))
    close(un.fft.fft(x.T, axis=axis), np.fft.fft(a.T, axis=axis))
    close(un.fft.fft(x[::-2, ::3, 1:], axis=axis), np.fft.fft(a[::-2, ::3, 1:], axis=axis))
    close(un.fft.rfft(un.real(x), axis=axis), np.fft.rfft(a.real, axis=axis))
    close(un.fft.irfft(x[::-1], axis=axis), np.fft.irfft(a[::-1], axis=axis))


@pytest.mark.parametrize("n", [1, 7, 40, 67, 600, 2310])
def test_cut_and_continued(device, n):
    rng = np.random.default_rng(3)
    a = rng.normal(size=(3, 100)) + 1j * rng.normal(size=(3, 100))
    x, r = both(device, a, a.real.copy())
    close(un.fft.fft(x, n), np.fft.fft(a, n))
    close(un.fft.rfft(r, n), np.fft.rfft(a.real, n))
    close(un.fft.irfft(x, n), np.fft.irfft(a, n))
    close(un.fft.ifft(r, n), np.fft.ifft(a.real, n))


def test_several_axes(device):
    rng = np.random.default_rng(4)
    a = rng.normal(size=(6, 9, 10))
    (x,) = both(device, a)
    close(un.fft.fftn(x), np.fft.fftn(a))
    close(un.fft.rfft2(x), np.fft.rfft2(a))
    close(un.fft.irfftn(un.fft.rfftn(x), a.shape), a)
    close(un.fft.fftshift(x), np.fft.fftshift(a))
    many = rng.normal(size=(3000, 20))
    close(un.fft.rfft(un.asarray(many, device=device)), np.fft.rfft(many))
