"""Fourier transforms against NumPy: values, dtypes, shapes, norms, axes, errors, bits for any threads."""

import os

import numpy as np
import pytest
import unisono as un

LENGTHS = [
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    12,
    13,
    15,
    16,
    17,
    49,
    67,
    97,
    100,
    128,
    131,
    210,
    1000,
    1021,
    4098,
    16384,
    30030,
]
NORMS = [None, "backward", "ortho", "forward"]


def numbers(shape, dtype="complex128", seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def check(got, expected):
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    if expected.size == 0:
        return
    single = expected.dtype.name in ("complex64", "float32")
    scale = np.sqrt((abs(expected) ** 2).mean()) + 1e-300
    assert abs(got - expected).max() < scale * (3e-6 if single else 2e-14)


@pytest.mark.parametrize("dtype", ["complex128", "complex64", "float64", "float32"])
@pytest.mark.parametrize("n", LENGTHS)
def test_one_line(n, dtype):
    x = numbers(n, dtype)
    y = un.asarray(x)
    check(un.fft.fft(y), np.fft.fft(x))
    check(un.fft.ifft(y), np.fft.ifft(x))
    check(un.fft.irfft(y, n), np.fft.irfft(x, n))
    check(un.fft.hfft(y, n), np.fft.hfft(x, n))
    if not dtype.startswith("complex"):
        check(un.fft.rfft(y), np.fft.rfft(x))
        check(un.fft.ihfft(y), np.fft.ihfft(x))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_lengths_axes_and_norms(name, norm):
    x = numbers((6, 10, 7), "float64" if name in ("rfft", "ihfft") else "complex128")
    y = un.asarray(x)
    for axis in (0, 1, -1):
        for n in (None, 1, 4, 5, 9, 16):
            check(getattr(un.fft, name)(y, n, axis, norm), getattr(np.fft, name)(x, n, axis, norm))
    for view in (lambda a: a[::-1, ::2], lambda a: a.T, lambda a: a[:, None, 3]):
        check(getattr(un.fft, name)(view(y), norm=norm), getattr(np.fft, name)(view(x), norm=norm))


@pytest.mark.parametrize(
    "name", ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]
)
@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_several_axes(name, norm):
    x = numbers((4, 6, 10), "float64" if name.startswith("rfft") else "complex128")
    y = un.asarray(x)
    check(getattr(un.fft, name)(y, norm=norm), getattr(np.fft, name)(x, norm=norm))
    for s, axes in (((3, 8), (0, 2)), ((5, 5), (-1, 0)), (None, (1, 2))):
        expected = getattr(np.fft, name)(x, s, axes, norm)
        check(getattr(un.fft, name)(y, s, axes, norm), expected)


def test_many_lines_and_long_ones():
    for shape in ((1000, 64), (64, 1000), (3, 20000), (9, 5000)):
        x = numbers(shape)
        for axis in (0, 1):
            check(un.fft.fft(un.asarray(x), axis=axis), np.fft.fft(x, axis=axis))
        x = x.real.copy()
        for axis in (0, 1):
            check(un.fft.rfft(un.asarray(x), axis=axis), np.fft.rfft(x, axis=axis))


def test_whole_numbers_empty_stacks_and_out():
    check(un.fft.fft([1, 2, 3]), np.fft.fft([1, 2, 3]))
    check(un.fft.fft(un.zeros((0, 4))), np.fft.fft(np.zeros((0, 4))))
    out = un.zeros(4, dtype="complex128")
    assert un.fft.fft([1.0, 2.0, 3.0, 4.0], out=out) is out
    check(out, np.fft.fft([1.0, 2.0, 3.0, 4.0]))
    check(un.fft.fft(un.arange(8.0) * 2 + 1), np.fft.fft(np.arange(8.0) * 2 + 1))


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies_and_shifts(n):
    for name in ("fftfreq", "rfftfreq"):
        check(getattr(un.fft, name)(n), getattr(np.fft, name)(n))
        check(getattr(un.fft, name)(n, 0.25), getattr(np.fft, name)(n, 0.25))
    x = np.arange(3 * n).reshape(3, n)
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 0, 1, (0, 1)):
            check(getattr(un.fft, name)(un.asarray(x), axes), getattr(np.fft, name)(x, axes))


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda f, xp: f.fft(xp.ones(4), 0), ValueError),
        (lambda f, xp: f.fft(xp.ones(4), norm="both"), ValueError),
        (lambda f, xp: f.fft(xp.ones(4), axis=1), IndexError),
        (lambda f, xp: f.fftn(xp.ones((4, 4)), (2,), (0, 1)), ValueError),
        (lambda f, xp: f.rfft(xp.ones(4) * 1j), TypeError),
        (lambda f, xp: f.irfft(xp.ones(1)), ValueError),
        (lambda f, xp: f.fftfreq(1.5), ValueError),
    ],
)
def test_refuses(call, error):
    for f, xp in ((np.fft, np), (un.fft, un)):
        with pytest.raises(error):
            call(f, xp)


def test_bits_do_not_depend_on_threads():
    line, lines = un.asarray(numbers(40000)), un.asarray(numbers((300, 128)))
    results = []
    for threads in (1, 2, 3):
        un.set_num_threads(threads)
        try:
            results.append([np.asarray(un.fft.fft(x)).tobytes() for x in (line, lines)])
        finally:
            un.set_num_threads(len(os.sched_getaffinity(0)))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("dtype", ["complex128", "complex64", "float64"])
@pytest.mark.parametrize("shape", [(37, 24), (3, 13, 49), (67, 2, 19), (40, 2048)])
def test_columns_and_rows_have_the_same_bits(shape, dtype):
    """Columns lie beside each other in memory and are moved as vectors, rows by transposing these."""
    a = numbers(shape, dtype)
    for x in (a, a[..., 1:], a[:, ::-1], np.asfortranarray(a)):
        rows = np.ascontiguousarray(np.moveaxis(x, 0, -1))
        for transform in (un.fft.fft, un.fft.ifft):
            want = np.moveaxis(np.asarray(transform(un.asarray(rows))), -1, 0)
            assert (np.asarray(transform(un.asarray(x), axis=0)) == want).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("n", [2, 12, 30, 64, 126, 127, 254, 500])
def test_a_line_alone_has_the_bits_of_a_line_among_others(n, dtype):
    """Vectors of several lines and loops over one do the same arithmetic."""
    a = np.random.default_rng(n).normal(size=(2, 9, n)).astype(dtype)
    if np.dtype(dtype).kind == "c":
        a = (a + 1j * a[::-1, ::-1]).astype(dtype)
    names = ["fft", "ifft", *(["irfft", "hfft"] if a.dtype.kind == "c" else ["rfft", "ihfft"])]
    for name in names:
        transform = getattr(un.fft, name)
        together = np.asarray(transform(un.asarray(a[0])))
        down = np.asarray(transform(un.asarray(a[0].T.copy()), axis=0)).T
        for k in range(9):
            alone = np.asarray(transform(un.asarray(a[0, k])))
            assert alone.tobytes() == together[k].tobytes() == down[k].tobytes(), (name, k)
