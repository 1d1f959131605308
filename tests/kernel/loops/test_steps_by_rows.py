"""Loops over columns take strips of rows through all steps: the bits of one step after the other."""

import numpy as np
import pytest
import unisono as un


def recursion(x):
    y = np.empty_like(x)
    y[:, 0] = x[:, 0]
    y[:, 1] = 0.5 * x[:, 1] + 0.25 * y[:, 0]
    for j in range(2, x.shape[1]):
        y[:, j] = 0.5 * x[:, j] + 0.25 * y[:, j - 1] - 0.125 * y[:, j - 2]
    return y


def backward(x):
    y = np.zeros_like(x)
    for j in range(x.shape[1] - 3, -1, -1):
        y[:, j] = 0.5 * x[:, j + 1] + 0.25 * y[:, j + 1] - 0.125 * y[:, j + 2]
    return y


def columns_of_planes(x):
    c, d, pivot = np.zeros_like(x), np.zeros_like(x), x[:, :, 0] * 0.0
    for k in range(1, x.shape[2] - 1):
        a = 0.25 * (x[:, :, k + 1] + x[:, :, k - 1])
        pivot = 1.0 / (4.0 + a * c[:, :, k - 1])
        c[:, :, k] = a * pivot
        d[:, :, k] = (x[:, :, k] - d[:, :, k - 1] * a) * pivot
    for k in range(x.shape[2] - 2, -1, -1):
        d[:, :, k] -= c[:, :, k] * d[:, :, k + 1]
    return c, d, pivot


def inner_rows(x):
    y = x * 0.5
    for k in range(1, x.shape[-1], 2):
        y[1:-1, ..., k] = y[1:-1, ..., k - 1] * x[1:-1, ..., k] + 1
    return y


def rows_that_meet(x):
    y = x * 0.5
    for k in range(1, x.shape[-1]):
        y[1:, ..., k] = y[:-1, ..., k - 1] * 0.5 + x[1:, ..., k]
    return y


def rows_that_meet_above(x):
    y = x * 0.5
    for k in range(1, x.shape[-1]):
        y[:-1, ..., k] = y[1:, ..., k - 1] * 0.5 + x[1:, ..., k]
    return y


def carried(x):
    y, row, n = np.zeros_like(x), x[..., 0] * 0.0, 0
    for k in range(x.shape[-1]):
        row = row * 0.5 + x[..., k]
        y[..., k] = row
        n += 1
    return y, row, n


def in_a_name(x):
    y, row = np.zeros_like(x), x[..., 0] * 0.0
    for k in range(x.shape[-1]):
        row[:] = row * 0.5 + x[..., k]
        y[..., k] = row + x[0, ..., 0]
    return y, row


programs = (
    recursion,
    backward,
    columns_of_planes,
    inner_rows,
    rows_that_meet,
    rows_that_meet_above,
    carried,
    in_a_name,
)
compiled = {f: un.jit(f) for f in programs}


def laid_out(x):
    """The same numbers in other layouts."""
    twice = np.repeat(np.repeat(x, 2, axis=0), 2, axis=-1)
    return {
        "rows": x,
        "columns": np.asfortranarray(x),
        "gaps": twice[::2, ..., ::2],
        "backwards": x[::-1, ..., ::-1].copy()[::-1, ..., ::-1],
    }


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(130, 17), (1, 30), (0, 9), (40, 3, 12), (3, 50, 6)])
@pytest.mark.parametrize("f", programs, ids=lambda f: f.__name__)
def test_the_bits_of_numpy(f, shape, dtype):
    if f in (recursion, backward) and len(shape) == 3:
        shape = (shape[0] * shape[1], shape[2])
    if f is columns_of_planes and len(shape) == 2:
        shape = (shape[0], 2, shape[1])
    x = np.random.default_rng(3).standard_normal(shape).astype(dtype)
    if f is in_a_name and not x.size:
        pytest.skip("it has no first element")
    for name, given in laid_out(x).items():
        want, got = f(given), compiled[f](given)
        for w, g in zip(
            want if isinstance(want, tuple) else (want,),
            got if isinstance(got, tuple) else (got,),
            strict=True,
        ):
            np.testing.assert_array_equal(np.asarray(g), w, err_msg=name, strict=True)


def in_place(u, v):
    for k in range(1, u.shape[1]):
        u[:, k] = v[:, k - 1] * 0.5 + u[:, k - 1]


@pytest.mark.parametrize("shift", [(0, 0), (0, 1), (1, 0), (1, 1), (0, 5)])
def test_arguments_that_share_memory(shift):
    """Rows or columns of one array: what a step stores, others may read in any row."""
    rows, columns = shift
    f = un.jit(in_place)
    results = []
    for g in (in_place, f):
        whole = np.random.default_rng(4).standard_normal((101, 40))
        g(whole[: 101 - rows, : 40 - columns], whole[rows:, columns:])
        results.append(whole)
    np.testing.assert_array_equal(results[1], results[0])


def past_the_end(y, s):
    for k in range(y.shape[1]):
        y[:, k] += s[k]
        y[:, k] = y[:, k] * 2 + y[:, k + 1]


def of_other_lengths(y, s):
    for k in range(1, y.shape[1]):
        y[:, k] = y[:, k - 1] + 1
        y[:, k] = y[:, k] * s


@pytest.mark.parametrize(
    ("f", "error"), [(past_the_end, IndexError), (of_other_lengths, ValueError)]
)
def test_steps_before_an_error_are_done(f, error):
    results = []
    for g in (f, un.jit(f)):
        y = np.random.default_rng(5).standard_normal((80, 12))
        with pytest.raises(error):
            g(y, np.ones(30))
        results.append(y)
    np.testing.assert_array_equal(results[1], results[0])
