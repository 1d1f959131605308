"""Grids of ranks, and reductions whose parts are shared out."""

import numpy as np
import pytest
import unisono as un

MPI = un.mpi
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


@pytest.mark.parametrize(
    ("count", "dims", "expected"),
    [(1, 2, [1, 1]), (6, 2, [3, 2]), (12, 3, [3, 2, 2]), (16, 2, [4, 4]), (12, [0, 2], [6, 2]), (7, (0, 0), [7, 1])],
)  # fmt: skip
def test_extents(count, dims, expected):
    assert MPI.Compute_dims(count, dims) == expected


def test_extents_that_do_not_fit():
    with pytest.raises(ValueError, match=r"no grid of 7 ranks.*got \[2, 0\]"):
        MPI.Compute_dims(7, [2, 0])
    with pytest.raises(ValueError, match="Create_cart: no grid of"):
        comm.Create_cart([size + 1])
    with pytest.raises(TypeError, match="Shift: .* in no grid; make one by Create_cart"):
        comm.Shift(0, 1)


@pytest.mark.parametrize("periods", [(False, False), (True, False), (True, True)])
def test_grid(periods):
    dims = MPI.Compute_dims(size, 2)
    cart = comm.Create_cart(dims, periods)
    assert cart.Get_dim() == 2 and cart.size == size
    here = cart.Get_coords(cart.rank)
    assert here == list(divmod(rank, dims[1])) and cart.Get_cart_rank(here) == rank
    assert cart.Get_topo() == (dims, list(periods), here)
    for axis in (0, 1):
        before, behind = cart.Shift(axis, 1)
        got = un.full(3, -1.0)
        cart.Sendrecv(un.full(3, float(rank)), behind, 0, got, before, 0)
        at = list(here)
        at[axis] -= 1
        is_there = periods[axis] or at[axis] >= 0
        assert got.tolist() == [cart.Get_cart_rank(at) if is_there else -1] * 3
        line = cart.Sub([axis == 0, axis == 1])
        assert (line.size, line.rank) == (dims[axis], here[axis])
        assert line.Get_topo() == ([dims[axis]], [periods[axis]], [here[axis]])
        line.Free()
    cart.Free()


def test_grid_of_some_ranks():
    cart = comm.Create_cart([1], periods=True)
    assert (cart == un.mpi.COMM_NULL) == (rank > 0)
    if cart:
        assert cart.Shift(0, 1) == (0, 0)


def test_reductions_that_are_shared_out():
    part = un.empty(2)
    comm.Reduce_scatter_block(un.arange(2.0 * size) + rank, part)
    first = np.arange(2.0) + 2 * rank
    assert part.tolist() == (size * first + size * (size - 1) / 2).tolist()
    counts = [k + 1 for k in range(size)]
    mine = un.empty(rank + 1, "int64")
    comm.Reduce_scatter(un.arange(sum(counts)) * (rank + 1), mine, counts, MPI.MAX)
    begin = rank * (rank + 1) // 2
    assert mine.tolist() == [size * k for k in range(begin, begin + rank + 1)]
