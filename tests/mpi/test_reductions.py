"""Reductions of distributed arrays: the bits of one rank, whatever the number of ranks."""

import numpy as np
import pytest
import unisono as un

mesh = un.mesh("mpi")
p = mesh.size


def numbers(shape, dtype="float64"):
    """Values whose sums depend on the order of additions."""
    rng = np.random.default_rng(7)
    return (rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 6, shape)).astype(dtype)


def same_bits(ours, theirs):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [0, 1, 31, 511, 512, 513, 1023, 5000, 20011])
def test_sum_of_a_vector_has_the_bits_of_one_rank(n, dtype):
    x = numbers(n, dtype)
    same_bits(un.asarray(x, mesh=mesh).sum(), un.array(x).sum())


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("shape", [(1, 5), (p + 1, 3), (7, 1), (67, 40), (129, 7), (1100, 2)])
def test_sum_over_axes_has_the_bits_of_one_rank(shape, axis):
    x = numbers(shape, "float32")
    a, b = un.asarray(x, mesh=mesh), un.array(x)
    same_bits(a.sum(axis=axis), b.sum(axis=axis))
    same_bits(a.sum(axis=axis, keepdims=True), b.sum(axis=axis, keepdims=True))
    same_bits((a * a).sum(axis=axis), (b * b).sum(axis=axis))
    same_bits(a[1:].sum(axis=axis), b[1:].sum(axis=axis))
    same_bits(a.prod(axis=axis), b.prod(axis=axis))


def test_three_axes():
    x = numbers((19, 6, 5))
    a, b = un.asarray(x, mesh=mesh), un.array(x)
    for axis in (None, 0, 1, 2, (0, 1), (0, 2), (1, 2)):
        same_bits(a.sum(axis=axis), b.sum(axis=axis))


def test_sums_do_not_depend_on_how_rows_are_spread():
    x = numbers((90, 3))
    a = un.asarray(x, mesh=mesh)
    same_bits((a[3:-5] + 0).sum(), un.array(x[3:-5]).sum())
    same_bits(a[::2].sum(axis=0), un.array(x[::2]).sum(axis=0))
    same_bits(a[::-1].sum(axis=0), un.array(x[::-1].copy()).sum(axis=0))


def test_other_reductions_and_dtypes():
    x = np.arange(-5, 3 * p + 4).astype("int32")
    a = un.asarray(x, mesh=mesh)
    assert int(a.sum()) == x.sum() and a.sum().dtype == "int64"
    assert int(a.max()) == x.max() and int(a.min()) == x.min()
    assert int(un.max(a)) == x.max() and int(un.sum(a)) == x.sum()
    assert bool((a > -6).all()) and not bool((a > 0).all()) and bool((a > 0).any())
    assert int((a > 0).sum()) == (x > 0).sum()
    same_bits(a.sum(dtype="float64"), un.array(x).sum(dtype="float64"))
    y = un.zeros((4, 0), mesh=mesh)
    same_bits(y.sum(), np.float64(0))
    same_bits(y.sum(axis=0), np.zeros(0))
    with pytest.raises(ValueError, match="an empty axis has no maximum"):
        un.zeros(0, mesh=mesh).max()
    with pytest.raises(IndexError, match="axis 2 is out of bounds"):
        a.sum(axis=2)


def test_results_are_operands():
    x = numbers((3 * p, 4))
    a, b = un.asarray(x, mesh=mesh), un.array(x)
    same_bits(a / a.sum(), b / b.sum())
    same_bits(a - a.sum(axis=0), b - b.sum(axis=0))
    same_bits(a - a.max(axis=1, keepdims=True), b - b.max(axis=1, keepdims=True))
    same_bits((a.sum(axis=1) * 2).sum(), (b.sum(axis=1) * 2).sum())


def test_rows_are_not_gathered():
    n = 4096 * p
    a = un.ones((n, 8), mesh=mesh)
    un.eval()
    before = un.stats()["bytes_allocated"]
    assert a.sum(axis=0).tolist() == [float(n)] * 8
    # The partial results of at most 2 log2(n / 8) nodes and two cut leaves of each rank.
    assert un.stats()["bytes_allocated"] - before < 8 * 8 * 8 * p * 60


@pytest.mark.parametrize(
    "shape", [(600, 3), (3, 600), (600, 1), (5, 600, 1), (600, 1, 3), (40, 2, 9)], ids=str
)
def test_bits_where_a_part_is_one_column(shape):
    x = np.random.default_rng(1).normal(size=shape)
    host = un.asarray(x)
    for split in range(len(shape)):
        layout = tuple("block" if k == split else None for k in range(len(shape)))
        spread = un.asarray(x, mesh=mesh, layout=layout)
        for axis in (None, *range(len(shape))):
            for ours, theirs in ((spread, host), (spread[1:], host[1:]), (spread.T, host.T)):
                want = np.asarray(theirs.sum(axis=axis))
                np.testing.assert_array_equal(np.asarray(ours.sum(axis=axis)), want)
