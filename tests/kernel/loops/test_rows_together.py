"""Nests on the same rows become one: the bits of one statement after the other, for any rows."""

import numpy as np
import pytest
import unisono as un


@un.jit
def highest(x):
    return np.max(x, axis=-1, keepdims=True)


@un.jit
def total(x):
    return np.sum(x, axis=-1, keepdims=True)


@un.jit
def shifted_exp(x, m):
    return np.exp(x - m)


@un.jit
def divided(x, y):
    return x / y


@un.jit
def softmax(x):
    top = np.max(x, axis=-1, keepdims=True)
    out = np.exp(x - top)
    return out / np.sum(out, axis=-1, keepdims=True)


@un.jit
def without_kept_axes(x):
    top = x.max(axis=-1)
    out = np.exp(x - top[..., None])
    return out, np.log(out.sum(axis=-1))


@un.jit
def logarithm(x):
    return np.log(x)


@un.jit
def of_matrices(x):
    return x / np.sum(x, axis=(-2, -1), keepdims=True)


@un.jit
def in_place(x):
    x /= np.sum(x, axis=-1, keepdims=True)
    x *= 2


@un.jit
def doubled(x):
    x *= 2


@un.jit
def layer(x, weight):
    apart = x - x.mean(axis=-1, keepdims=True)
    spread = (apart * apart).mean(axis=-1, keepdims=True)
    return apart / np.sqrt(spread + 1e-5) * weight


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype and a.shape == b.shape
    assert a.tobytes() == b.tobytes()


shapes = [(7, 1), (5, 4), (33, 5), (9, 16), (40, 17), (21, 33), (11, 200), (5, 513), (3, 1100),
          (1, 30), (0, 5), (2, 3, 40), (3, 0, 8), (2, 2, 5, 100)]  # fmt: skip


def rows(shape, dtype, layout):
    x = np.random.default_rng(3).random(shape).astype(dtype)
    if layout == "fortran":
        return np.asfortranarray(x)
    if layout == "every second":
        wide = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    return x[..., ::-1] if layout == "backwards" else x


@pytest.mark.parametrize("layout", ["plain", "fortran", "every second", "backwards"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", shapes, ids=str)
def test_as_one_after_the_other(shape, dtype, layout):
    x = rows(shape, dtype, layout)
    out = shifted_exp(x, highest(x))
    same(softmax(x), divided(out, total(out)))
    mine = without_kept_axes(x)
    same(mine[0], out)
    same(mine[1], logarithm(total(out))[..., 0])
    same(of_matrices(x), divided(x, np.asarray(total(total(x)[..., 0]))[..., None]))
    y, z = x.copy(), divided(x, total(x))
    in_place(y)
    doubled(z)
    same(y, z)


def test_layers_are_normed():
    x = np.random.default_rng(1).random((50, 60))
    expected = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    assert np.allclose(layer(x, x[0]), expected * x[0], rtol=1e-12)


def test_threads_do_not_change_bits():
    x = np.random.default_rng(2).random((3000, 130))
    expected = softmax(x)
    before = un.get_num_threads()
    un.set_num_threads(1)
    same(softmax(x), expected)
    un.set_num_threads(before)


@un.jit
def from_other_rows(x):
    s = x.sum(axis=-1)
    return x / s[::-1][:, None]


@un.jit
def from_one_row(x):
    s = x.sum(axis=-1)
    return x / s[0]


@un.jit
def rows_of_columns(x):
    s = x.sum(axis=-1, keepdims=True)
    return x.T / s


@un.jit
def changed_in_front(x):
    s = x.sum(axis=-1, keepdims=True)
    x[1:] = x[:-1] / s[1:]
    return x - s


def test_other_rows_are_complete_before_they_are_read():
    x = np.random.default_rng(4).random((40, 40))
    s = x.sum(axis=1)
    assert np.allclose(from_other_rows(x), x / s[::-1][:, None], rtol=1e-13)
    assert np.allclose(from_one_row(x), x / s[0], rtol=1e-13)
    assert np.allclose(rows_of_columns(x), x.T / s[:, None], rtol=1e-13)
    y = x.copy()
    y[1:] = x[:-1] / s[1:, None]
    mine = x.copy()
    assert np.allclose(changed_in_front(mine), y - s[:, None], rtol=1e-13)
    assert np.allclose(mine, y, rtol=1e-13)


@un.jit
def fails_behind(x, y):
    x /= np.sum(x, axis=-1, keepdims=True)
    x += y


def test_what_was_stored_before_a_fault_is_there():
    x = np.random.default_rng(5).random((6, 8))
    mine = x.copy()
    with pytest.raises(ValueError, match="broadcast"):
        fails_behind(mine, np.ones((5, 8)))
    assert np.allclose(mine, x / x.sum(axis=-1, keepdims=True), rtol=1e-15)


@un.jit
def of_two(x, y, n):
    total = x
    for k in range(n):
        m = total.max(axis=-1, keepdims=True)
        total = y - m * k
        y = total
    return total


def test_names_that_are_assigned_again():
    x = np.random.default_rng(6).random((6, 8))
    y = np.random.default_rng(7).random((6, 8))
    expected, given = x, y
    for k in range(4):
        expected = given - expected.max(axis=-1, keepdims=True) * k
        given = expected
    assert np.allclose(of_two(x, y, 4), expected)


@un.jit
def by_own_elements(x, y):
    x /= x[:, :1]
    x[:] = x + x[0, 0]
    x[1] = x[1] * x[1, -1]
    return x - np.sqrt(y)[:, None], y[:, None] * x[:0].sum()


@pytest.mark.parametrize("shape", [(5, 7), (4, 1), (1, 9), (3, 33)])
def test_what_a_row_shares_is_read_before_it_changes(shape):
    x, y = 1 + np.random.default_rng(8).random(shape), np.arange(float(shape[0]))
    if shape[0] == 1:
        x, y = np.repeat(x, 2, axis=0), np.arange(2.0)
    mine, want = x.copy(), x.copy()
    got = by_own_elements(mine, y)
    for a, b in zip(got, by_own_elements.py_func(want, y), strict=True):
        same(a, b)
    same(mine, want)


@un.jit
def by_the_first(x):
    return x / np.sqrt(x[:, :1])


def test_rows_without_elements_share_nothing():
    same(by_the_first(np.ones((3, 0))), np.ones((3, 0)))
    same(by_the_first(np.full((3, 2), 4.0)), np.full((3, 2), 2.0))
