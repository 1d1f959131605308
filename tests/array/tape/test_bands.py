"""Kernels that take turns on bands of rows: recurrences along strided axes, long programs on large arrays."""

import numpy as np
import pytest
import unisono as un

ROWS, COLUMNS, LEVELS = 61, 67, 24  # rows that no band divides


@pytest.fixture(autouse=True)
def compiled():
    """Bands are of compiled kernels: compile at once."""
    un._engine._set_setting("executor", "cpu")
    yield
    un._engine._set_setting("executor", "auto")


def run(function, module, *arrays):
    results = function(module, *(module.array(x) for x in arrays))
    return [np.asarray(x) for x in (results if isinstance(results, tuple) else (results,))]


def bands_of(function, *arrays, capfd):
    """Checks the bits of every result; how many times kernels took turns."""
    with np.errstate(all="ignore"):
        wanted = run(function, np, *arrays)
    un._engine._set_setting("debug", "1")
    try:
        got = run(function, un, *arrays)
    finally:
        un._engine._set_setting("debug", "0")
    for g, w in zip(got, wanted, strict=True):
        assert g.dtype == w.dtype
        assert g.tobytes() == w.tobytes()
    return capfd.readouterr().err.count("take turns")


def cube(seed, dtype=np.float64):
    return np.random.default_rng(seed).random((ROWS, COLUMNS, LEVELS)).astype(dtype) + dtype(1)


def forward(module, a, b, c):
    """Thomas' forward sweep along the last axis."""
    for k in range(1, LEVELS):
        divided = 1.0 / (b[:, :, k] - c[:, :, k - 1] * a[:, :, k])
        c[:, :, k] = c[:, :, k] * divided
        b[:, :, k] = (b[:, :, k] - b[:, :, k - 1] * a[:, :, k]) * divided
    return b, c


def backward(module, a, b, c):
    """With a row of another array, a value for all rows, and a level written whole."""
    last = module.zeros((ROWS, COLUMNS))
    for k in range(LEVELS - 2, -1, -1):
        level = a[:, :, k] - b[:, :, k] * last + c[0, :, k]
        last[:] = level * a[3, 4, k]
        b[:, :, k] = level
    return b, last


def turned(module, a, b, c):
    """Views whose rows go the other way, and results that nobody sees."""
    for k in range(1, LEVELS):
        t = a[::-1, :, k] * b[:, ::-1, k - 1]
        c[:, :, k] = t + c[:, :, k - 1] * 0.5
        a[:, :, 0] = t - a[:, :, k]
    return a, c


def neighbours(module, a, b, c):
    """Reads of other rows of what is written: no turns across them."""
    for k in range(1, LEVELS):
        a[1:, :, k] = a[:-1, :, k - 1] + b[1:, :, k]
        b[:-1, :, k] = a[1:, :, k] * c[:-1, :, k]
    return a, b


def integers(module, a, b, c):
    for k in range(1, LEVELS):
        a[:, :, k] = a[:, :, k - 1] * 3 + b[:, :, k]
        b[:, :, k] = a[:, :, k] // 5 - c[:, :, k]
    return a, b


@pytest.mark.parametrize("function", [forward, turned])
def test_recurrences_take_turns(function, capfd):
    assert bands_of(function, cube(1), cube(2), cube(3), capfd=capfd) > 0


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex64])
def test_other_dtypes(dtype, capfd):
    function = integers if dtype is np.int64 else turned
    bands_of(function, *(cube(k, dtype) for k in range(3)), capfd=capfd)


@pytest.mark.parametrize("function", [backward, neighbours])
def test_other_programs(function, capfd):
    """Little to share, or rows that others have written."""
    bands_of(function, cube(1), cube(2), cube(3), capfd=capfd)


def test_threads_share_bands(capfd):
    previous = un.get_num_threads()
    try:
        for threads in (1, 2, 3, 7):
            un.set_num_threads(threads)
            assert bands_of(forward, cube(1), cube(2), cube(3), capfd=capfd) > 0
    finally:
        un.set_num_threads(previous)


def test_a_long_program_on_large_arrays(capfd):
    """More operations than a kernel holds: the kernels after the first read what it wrote."""
    x = np.random.default_rng(1).random(300_001)

    def program(module, x):
        y, z = x, x + 1
        for k in range(1, 40):
            y, z = y * z - k, y - z / k
        return y, z

    assert bands_of(program, x, capfd=capfd) > 0


def test_small_arrays_do_not(capfd):
    assert bands_of(forward, *(cube(k)[:9, :9] for k in range(3)), capfd=capfd) == 0


def test_explained():
    a = un.array(cube(1))
    for k in range(1, LEVELS):
        a[:, :, k] = a[:, :, k - 1] * 2 + a[:, :, k]
        a[:, :, 0] -= a[:, :, k]
    assert "take turns" in str(un.explain(a))
