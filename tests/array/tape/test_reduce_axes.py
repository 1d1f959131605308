"""Reductions of several axes: one kernel, the bits of one axis after the other."""

import itertools

import numpy as np
import pytest
import unisono as un

SHAPES = [(9, 3, 17), (1, 8, 1, 6), (2, 3, 70), (4, 0, 3)]


@pytest.fixture(params=["block", "cpu", "interp"])
def executor(request):
    un._engine._set_setting("executor", request.param)
    yield request.param
    un._engine._set_setting("executor", "auto")


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert a.tobytes() == b.tobytes()


def one_by_one(op, x, axes):
    for axis in sorted(axes, reverse=True):
        x = getattr(un, op)(x, axis=axis)
        un.eval(x)
    return x


def axes_of(rank):
    return [c for n in range(2, rank + 1) for c in itertools.combinations(range(rank), n)]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "int16", "complex64"])
def test_several_axes_have_the_bits_of_one_by_one(executor, shape, dtype):
    random = np.random.default_rng(1)
    host = (random.standard_normal((10, *shape)) * 9).astype(dtype)
    x = un.asarray(host)
    for axes in axes_of(x.ndim):
        fused = un.sum(x + x, axis=axes)
        same(fused, one_by_one("sum", x + x, axes))
        np.testing.assert_allclose(
            np.asarray(fused), np.sum(host + host, axis=axes), rtol=1e-3, atol=1e-3
        )
        if x.size and dtype != "complex64":
            same(un.max(x, axis=axes), np.max(host, axis=axes))


def test_views_and_broadcasts(executor):
    random = np.random.default_rng(2)
    a, w = random.standard_normal((9, 14, 12, 3)), random.standard_normal((5, 4, 3, 10))
    x, v = un.asarray(a), un.asarray(w)
    for i, j in [(0, 0), (3, 7), (9, 8)]:
        product = x[:, i : i + 5, j : j + 4, :, None] * v[None]
        expected = one_by_one("sum", un.array(product), (1, 2, 3))
        same(un.sum(x[:, i : i + 5, j : j + 4, :, None] * v[None], axis=(1, 2, 3)), expected)
    same(
        un.sum(x[::-2, :, ::-1].transpose(3, 0, 1, 2) * 2, axis=(1, 2)),
        one_by_one("sum", un.array(x[::-2, :, ::-1].transpose(3, 0, 1, 2) * 2), (1, 2)),
    )


def test_signed_zero_and_nan(executor):
    x = un.full((3, 50, 20), -0.0)
    assert np.signbit(np.asarray(x.sum(axis=(0, 1)))).all()
    x[1, 2, 3] = float("nan")
    assert np.isnan(np.asarray(x.max(axis=(0, 1)))).sum() == 1


def test_other_outputs_of_the_kernel(executor):
    x = un.asarray(np.random.default_rng(3).standard_normal((6, 7, 40)))
    y = x * 2
    total, least = y.sum(axis=(0, 1)), y.min(axis=(0, 1))
    un.eval(y, total, least)
    same(y, np.asarray(x) * 2)
    same(total, one_by_one("sum", y, (0, 1)))
    same(least, np.asarray(y).min(axis=(0, 1)))


def test_one_kernel_takes_all_axes(executor):
    x = un.asarray(np.random.default_rng(3).standard_normal((4, 5, 6, 100)))
    un.eval((x * x).sum(axis=(0, 1, 2)))
    y = (x * x).sum(axis=(0, 1, 2))
    before = un.stats()["kernels_launched"]
    un.eval(y)
    # block takes the axes one by one; it has the work where the compiler would not pay.
    assert un.stats()["kernels_launched"] - before == (3 if executor == "block" else 1)


def test_explain_names_the_axes():
    x = un.ones((4, 5, 6, 100))
    text = str(un.explain((x * x).sum(axis=(1, 2))))
    assert "reduce-add %1 along axes 1 to 2" in text
    assert text.count("kernel 1") == 1
    assert "kernel 2" not in text


@pytest.mark.parametrize("shape", [(70, 40), (600, 9), (1100, 130), (33, 8)])
@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_the_last_axis_of_a_transposed_array(executor, shape, dtype):
    """Columns are read side by side; elements go to lanes as in a dense row."""
    host = (np.random.default_rng(4).standard_normal((2, *shape)) * 9).astype(dtype)
    x = un.array(host).transpose(2, 0, 1)  # the last axis is not dense
    dense = un.array(np.ascontiguousarray(host.transpose(2, 0, 1)))
    y, z = x + x, dense + dense
    for op in ("sum", "max"):
        made = getattr(un, op)(y, axis=2)
        expected = getattr(un, op)(z, axis=2)
        same(made, expected)
    total, kept = (x * x).sum(axis=2), x + 1
    un.eval(total, kept)
    same(kept, host.transpose(2, 0, 1) + dtype_of(dtype)(1))
    numbered = un.sum(x + un.arange(2 * shape[0] * shape[1]).reshape(x.shape), axis=2)
    same(numbered, un.sum(dense + un.arange(dense.size).reshape(dense.shape), axis=2))


def dtype_of(name):
    return np.dtype(name).type


def in_rows(x, y):
    """Sums over the last axis, in forms that one kernel takes; with what else it stores."""
    kept = x * 2 - y
    numbers = un.arange(x.size).reshape(x.shape)
    results = [
        (x * y).sum(axis=-1),
        (x - y).max(axis=-1),
        (x > y).any(axis=-1),
        un.exp(x / 100).sum(axis=-1),
        kept,
        kept.min(axis=-1),
        (x[..., ::-1] + numbers).sum(axis=-1),
        (x + y).sum(),
        (x - y).sum(axis=tuple(range(x.ndim))[-2:]),
    ]
    un.eval(*results)
    return results


ROWS = [(1,), (31,), (33,), (513,), (3, 64), (5, 3, 300), (9, 2, 97)]
LONG_ROWS = [(33000,), (2, 33000)]  # in pieces; they take minutes in the interpreter


@pytest.mark.parametrize(
    ("executor", "shape"),
    [("interp", s) for s in ROWS] + [("cpu", s) for s in ROWS + LONG_ROWS],
)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
def test_rows_have_the_bits_of_block(executor, dtype, shape):
    random = np.random.default_rng(5)
    x, y = (un.array((random.standard_normal(shape) * 9).astype(dtype)) for _ in range(2))
    try:
        un._engine._set_setting("executor", "block")
        expected = in_rows(x, y)
        un._engine._set_setting("executor", executor)
        made = in_rows(x, y)
    finally:
        un._engine._set_setting("executor", "auto")
    for a, b in zip(made, expected, strict=True):
        same(a, b)
