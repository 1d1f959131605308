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


def rows_of_points(x, y, out):
    for i in range(len(y)):
        for j in range(len(x)):
            c = complex(x[j], y[i])
            z = c
            n = 0
            while n < 50 and z.real * z.real + z.imag * z.imag <= 4.0:
                z = z * z + c
                n += 1
            out[i, j] = n


def each_from_the_last(a, b):
    for i in range(1, len(a)):
        x = b[i - 1] * 0.75
        while x < 10.0:
            x = x * 1.5 + 0.5
        a[i] = x


def every_second(a, b):
    for i in range(len(a) // 2):
        x = b[2 * i]
        while x < 10.0:
            x = x * 1.5 + 0.5
        if i != 3:
            a[2 * i + 1] = x


def last_steps(a, b):
    n = 0
    for i in range(len(a)):
        while n < 100 and b[i] > n * 0.5:
            n += 1
        a[i] = n
    return n


@pytest.mark.parametrize("n", [0, 3, 16, 50, 333])
def test_loops_over_points(n):
    x, y = np.linspace(-2, 1, n), np.linspace(-1, 1, 7)
    mine, want = np.zeros((2, 7, n), np.int64)
    un.jit(rows_of_points)(x, y, mine)
    rows_of_points(x, y, want)
    assert np.array_equal(mine, want)


@pytest.mark.parametrize("function", [each_from_the_last, every_second, last_steps])
@pytest.mark.parametrize("overlap", ["none", "same", "ahead", "behind"])
def test_points_that_meet_go_one_after_the_other(function, overlap):
    def views(memory):
        if overlap == "none":
            return memory[:300], memory[300:]
        parts = {"same": (0, 0), "ahead": (0, 7), "behind": (7, 0)}[overlap]
        return [memory[k : k + 300] for k in parts]

    mine = np.random.default_rng(5).random(600) * 8 + 0.1
    want = mine.copy()
    got = un.jit(function)(*views(mine))
    assert got == function(*views(want))
    assert np.array_equal(mine, want)


def test_an_index_out_of_range_is_told():
    x, y = np.linspace(-2, 1, 40), np.linspace(-1, 1, 7)
    with pytest.raises(IndexError):
        un.jit(rows_of_points)(x, y, np.zeros((7, 39), np.int64))


def test_broadcast_and_strided():
    x, y = np.linspace(-2, 1, 203), np.linspace(-1, 1, 97)
    f = un.vectorize(["int64(float64, float64)"])(escape)
    want = np.array([[escape(a, b) for a in x] for b in y])
    for _ in range(4):
        assert np.array_equal(np.asarray(f(un.array(x)[None, :], un.array(y)[:, None])), want)
    assert np.array_equal(np.asarray(f(un.array(x)[::-2], 0.5)), [escape(a, 0.5) for a in x[::-2]])
