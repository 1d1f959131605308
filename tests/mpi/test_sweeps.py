"""Several sweeps of a time loop in one window: halos that serve all of them, and NumPy's bits."""

import numpy as np
import pytest
import unisono as un

mesh = un.mesh("mpi")
p = mesh.size


def same(ours, theirs):
    ours = np.asarray(ours)
    assert ours.dtype == theirs.dtype and ours.tobytes() == np.ascontiguousarray(theirs).tobytes()


def both(x):
    return un.asarray(x, mesh=mesh), x.copy()


def laplace(u, v):
    v[1:-1, 1:-1] = ((u[:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, :-2] + u[1:-1, 2:])) / 4


@pytest.mark.parametrize("n", [2, 3, 5, 12, 31, 64])
@pytest.mark.parametrize("sweeps", [1, 2, 7, 25])
def test_laplace(n, sweeps):
    x = np.random.default_rng(n).random((n, 6))
    (u, y), (v, z) = both(x), both(x)
    for _ in range(sweeps):
        laplace(u, v)
        laplace(y, z)
        u, v, y, z = v, u, z, y
    same(u, y)
    same(v, z)


@pytest.mark.parametrize("n", [3, 5, 12, 31, 64])
def test_other_shapes_of_sweeps(n):
    a, x = both(np.random.default_rng(n).random(n))
    for k in range(9):
        a[1:] += a[:-1] * 0.5  # in place: NumPy reads what was there before
        x[1:] += x[:-1] * 0.5
        if k % 3 == 0:
            a[0] = k
            x[0] = k
        b, y = a[2:] - 2 * a[1:-1] + a[:-2], x[2:] - 2 * x[1:-1] + x[:-2]
        a[1:-1] += 0.1 * b
        x[1:-1] += 0.1 * y
        a[::-1][:2] = a[:2]
        x[::-1][:2] = x[:2].copy()
    same(a, x)
    # Along the second axis, which is split in the transpose.
    c, z = both(np.random.default_rng(n).random((3, n)))
    c = (c.T * 1.0).T
    for _ in range(8):
        d, w = c.copy(), z.copy()
        d[:, 1:-1] = c[:, 2:] - c[:, :-2]
        w[:, 1:-1] = z[:, 2:] - z[:, :-2]
        c, z = d, w
    same(c, z)


def test_sweeps_share_exchanges():
    n = 64 * p
    u, v = un.ones((n, 8), mesh=mesh), un.zeros((n, 8), mesh=mesh)
    for _ in range(30):
        laplace(u, v)
        u, v = v, u
    un.eval()
    before = un.stats()["messages_sent"]
    for _ in range(100):
        laplace(u, v)
        u, v = v, u
    un.eval()
    neighbours = (mesh.rank > 0) + (mesh.rank < p - 1)
    assert un.stats()["messages_sent"] - before <= 30 * neighbours


def test_sweeps_exchange_one_by_one_where_that_is_asked():
    def messages(shares):
        mesh.shares_exchanges = shares
        assert mesh.shares_exchanges is shares
        x = np.random.default_rng(2).random((64 * p, 8))
        (u, y), (v, z) = both(x), both(x)
        un.eval(u, v)
        before = un.stats()["messages_sent"]
        for _ in range(40):
            laplace(u, v)
            laplace(y, z)
            u, v, y, z = v, u, z, y
        un.eval()
        sent = un.stats()["messages_sent"] - before
        same(u, y)
        return sent

    try:
        neighbours = (mesh.rank > 0) + (mesh.rank < p - 1)
        assert messages(False) >= 39 * neighbours
        assert messages(True) <= 20 * neighbours
    finally:
        mesh.shares_exchanges = True


def one_ninth():
    """A number that rank 0 knows when it records, and the others compute later."""
    if mesh.rank == 0:
        return un.full(9, 1.0).sum() / 81
    return un.full(1 << 20, 1.0).sum() / (9 << 20)


def test_windows_do_not_depend_on_which_rank_knows_a_number():
    a, x = both(np.random.default_rng(1).random(60))
    for k in range(60):
        share = one_ninth()
        a[1:] += a[:-1] * share
        x[1:] += x[:-1] * (9 / 81)
        if k % 7 == 0:
            assert float(a.sum()) == pytest.approx(x.sum())
    same(a, x)


def test_what_a_number_fills_is_spread_on_all_ranks():
    filled = un.empty((8, 8), mesh=mesh)
    filled[...] = one_ninth()
    moved = filled[1:] - filled[:-1]
    assert float(moved.sum()) == 0
    same(filled, np.full((8, 8), 9 / 81))
