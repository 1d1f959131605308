"""Two groups of ranks that send to each other."""

import array

import numpy as np
import pytest
import unisono as un

MPI = un.mpi
world = MPI.COMM_WORLD
pytestmark = pytest.mark.skipif(world.size < 2, reason="two groups of ranks")


@pytest.fixture
def inter():
    half = world.size // 2
    is_low = world.rank < half
    local = world.Split(0 if is_low else 1)
    made = local.Create_intercomm(0, world, half if is_low else 0, 7)
    local.Free()
    yield made
    made.Free()


def others(inter):
    """World's ranks of the other group."""
    return inter.Get_remote_group().Translate_ranks()


def test_who_is_there(inter):
    assert inter.Is_inter() and not world.Is_inter()
    assert inter.size + inter.remote_size == world.size
    assert inter.Get_group().Translate_ranks()[inter.rank] == world.rank
    assert world.rank not in others(inter)
    assert not MPI.Intercomm() and inter


def test_messages(inter):
    for dest in range(inter.remote_size):
        inter.isend((world.rank, dest), dest, tag=3)
    status = MPI.Status()
    for source in range(inter.remote_size):
        got = inter.recv(source=source, tag=3, status=status)
        assert got == (others(inter)[source], inter.rank) and status.Get_source() == source
    x, y = un.full(4, world.rank, dtype="f8"), np.zeros(4)
    if inter.rank < inter.remote_size:
        inter.Sendrecv(x, inter.rank, 0, y, inter.rank, 0)
        assert y.tolist() == [others(inter)[inter.rank]] * 4
    assert MPI.Comm.Compare(inter, inter) == MPI.IDENT
    with pytest.raises(ValueError, match="no such root") as found:
        inter.bcast(1, inter.remote_size)
    assert isinstance(found.value, un.CommError) and found.value.Get_error_class() == MPI.ERR_ROOT
    with pytest.raises(IndexError, match="no such rank"):
        inter.send(1, inter.remote_size)


def roots(inter):
    """Each rank of each group in turn: what this rank gives as root, and whether it gets what the root sends."""
    for is_low in (True, False):
        mine = (world.rank < world.size // 2) == is_low
        for root in range(inter.size if mine else inter.remote_size):
            yield (MPI.ROOT if root == inter.rank else MPI.PROC_NULL) if mine else root


@pytest.mark.parametrize("kind", ["b", "i", "d"])
def test_buffers_with_a_root(inter, kind):
    for root in roots(inter):
        buf = array.array(kind, [5 if root == MPI.ROOT else 1] * 3)
        inter.Bcast(buf, root)
        assert buf.tolist() == [1 if root == MPI.PROC_NULL else 5] * 3
        collected = array.array(kind, [0] * (2 * inter.remote_size))
        inter.Gather(array.array(kind, [world.rank] * 2), collected, root)
        if root == MPI.ROOT:
            assert collected.tolist() == [r for r in others(inter) for _ in range(2)]
        part = array.array(kind, [0])
        inter.Scatter(array.array(kind, range(inter.remote_size)), part, root)
        if root >= 0:
            assert part[0] == inter.rank
        total = array.array(kind, [0])
        inter.Reduce(array.array(kind, [world.rank]), total, MPI.SUM, root)
        if root == MPI.ROOT:
            assert total[0] == sum(others(inter))


@pytest.mark.parametrize("kind", ["b", "i", "d"])
def test_buffers_of_all(inter, kind):
    there = others(inter)
    own = array.array(kind, [world.rank])
    got = array.array(kind, [0] * inter.remote_size)
    inter.Allgather(own, got)
    assert got.tolist() == there
    inter.Alltoall(array.array(kind, [10 * world.rank + k for k in range(inter.remote_size)]), got)
    assert got.tolist() == [10 * r + inter.rank for r in there]
    total = array.array(kind, [0])
    inter.Allreduce(own, total)
    assert total[0] == sum(there)
    inter.Barrier()
    # In parts: as many elements on both sides as both groups can share.
    n = inter.size * inter.remote_size
    part = array.array(kind, [0] * (n // inter.size))
    inter.Reduce_scatter(array.array(kind, [1] * n), part)
    assert part.tolist() == [inter.remote_size] * len(part)


def test_types_of_each_rank(inter):
    n = inter.remote_size
    sent, got = np.full(n, world.rank, "i4"), np.zeros(n, "i4")
    counts, starts, types = [1] * n, [4 * k for k in range(n)], [MPI.INT] * n
    for _ in range(2):
        inter.Alltoallw([sent, (counts, starts), types], [got, (counts, starts), types])
        assert got.tolist() == others(inter)


def test_objects(inter):
    there = others(inter)
    for root in roots(inter):
        got = inter.bcast({"rank": world.rank}, root)
        assert got == ({"rank": there[root]} if root >= 0 else None)
        assert inter.gather(world.rank, root) == (there if root == MPI.ROOT else None)
        got = inter.scatter(list(range(inter.remote_size)), root)
        assert got == (inter.rank if root >= 0 else None)
        total = inter.reduce(world.rank, MPI.SUM, root)
        assert total == (sum(there) if root == MPI.ROOT else None)
    assert inter.allgather(world.rank) == there
    assert inter.alltoall([(world.rank, k) for k in range(inter.remote_size)]) == [
        (r, inter.rank) for r in there
    ]
    assert inter.allreduce(world.rank) == sum(there)


def test_made_of_it(inter):
    is_low = world.rank < world.size // 2
    merged = inter.Merge(not is_low)
    assert (merged.rank, merged.size) == (world.rank, world.size)
    merged.Free()
    turned = inter.Merge(is_low)
    assert turned.allgather(world.rank) == [
        *range(world.size // 2, world.size),
        *range(world.size // 2),
    ]
    turned.Free()
    again = inter.Dup()
    assert again.Compare(inter) == MPI.CONGRUENT and inter.Compare(inter) == MPI.IDENT
    assert again.allgather(1) == [1] * inter.remote_size
    again.Free()
    assert not again
    first = inter.Split(0 if inter.rank == 0 else 1)
    if inter.rank == 0:
        assert (first.size, first.remote_size) == (1, 1)
        first.Free()
    else:
        assert first == MPI.COMM_NULL or first.remote_size > 0


def test_of_virtual_ranks():
    def run():
        local = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)
        made = local.Create_intercomm(0, MPI.COMM_WORLD, 1 - MPI.COMM_WORLD.rank % 2)
        part = made.Split(made.rank)
        return made.allgather(MPI.COMM_WORLD.rank), part.allgather(made.rank)

    got = un.mesh("virtual", 4).run(run)
    assert got == [([1, 3], [0]), ([0, 2], [0]), ([1, 3], [1]), ([0, 2], [1])]
