"""Points that take their own numbers of steps take them in lanes: each has the bits of its own steps."""

import numpy as np
import pytest
import unisono as un


def escape(cr, ci):
    zr, zi, steps = cr, ci, 0
    while steps < 50 and zr * zr + zi * zi <= 4.0:
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
        steps += 1
    return steps


def grows(x, y):
    n = 0
    rises = x > y
    last = x
    while n < 40 and last < 100.0:
        if rises:
            last = last * 1.5 + 0.25
        else:
            last = last + y * 7.0
            rises = n > 5
        n += 2
    return last if rises else last - n


def narrow(c, d):
    z = c * np.float32(0)
    n = 0
    while n < 30 and z < np.float32(2):
        z = z * z + c * d
        n += 1
    return z


def never(x, y):
    n = 0
    while n < 4 and x != x:
        x = x + y
        n += 1
    return x * 3.0


CASES = [
    (escape, "int64(float64, float64)", np.float64),
    (grows, "float64(float64, float64)", np.float64),
    (narrow, "float32(float32, float32)", np.float32),
    (never, "float64(float64, float64)", np.float64),
]


@pytest.mark.parametrize("function, signature, dtype", CASES)
@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 100, 5003])
def test_points_have_the_bits_of_their_own_steps(function, signature, dtype, n):
    rng = np.random.default_rng(n)
    x, y = (4 * rng.random((2, n)) - 2).astype(dtype)
    if n > 3:
        x[2], y[3] = np.nan, np.inf
    f = un.vectorize([signature])(function)

    @un.jit
    def inside(x, y):
        return f(x, y)

    scalars = np.float32 if dtype == np.float32 else float
    with np.errstate(all="ignore"):
        want = [function(scalars(a), scalars(b)) for a, b in zip(x, y, strict=True)]
    mine = f(un.array(x), un.array(y))
    for _ in range(3):
        assert np.array_equal(np.asarray(mine), np.array(want, mine.dtype), equal_nan=True)
        mine = f(un.array(x), un.array(y))
    assert np.array_equal(inside(x, y), np.asarray(mine), equal_nan=True)


def test_broadcast_and_strided():
    x, y = np.linspace(-2, 1, 203), np.linspace(-1, 1, 97)
    f = un.vectorize(["int64(float64, float64)"])(escape)
    want = np.array([[escape(a, b) for a in x] for b in y])
    for _ in range(4):
        assert np.array_equal(np.asarray(f(un.array(x)[None, :], un.array(y)[:, None])), want)
    assert np.array_equal(np.asarray(f(un.array(x)[::-2], 0.5)), [escape(a, 0.5) for a in x[::-2]])
