"""Messages of ranks with their neighbours in a grid or a graph, and collective calls that start again."""

import numpy as np
import pytest
import unisono as un

MPI = un.mpi
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


@pytest.mark.parametrize("xp", [un, np], ids=["ours", "numpy"])
@pytest.mark.parametrize("is_periodic", [False, True])
def test_neighbors_in_a_grid(xp, is_periodic):
    cart = comm.Create_cart([size], periods=[is_periodic])
    below, above = cart.Shift(0, 1)
    assert cart.inedges == cart.outedges == [below, above] and cart.indegree == 2
    sent, got = xp.asarray([10.0 * rank, 10.0 * rank + 1]), xp.full(2, -1.0)
    cart.Neighbor_alltoall(sent, got)
    # From below comes what that rank sends above.
    expected = [10.0 * below + 1 if below >= 0 else -1, 10.0 * above if above >= 0 else -1]
    assert got.tolist() == expected
    got = xp.full((2, 3), -1)
    cart.Neighbor_allgather(xp.full(3, rank), got)
    assert got[:, 2].tolist() == [max(below, -1), max(above, -1)]
    cart.Neighbor_alltoallv([sent, [1, 1], [1, 0]], [xp.zeros(4), [1, 1], [3, 0]])
    assert cart.neighbor_alltoall(["down", "up"]) == [
        "up" if below >= 0 else None,
        "down" if above >= 0 else None,
    ]
    assert cart.neighbor_allgather(rank) == [r if r >= 0 else None for r in (below, above)]
    with pytest.raises(ValueError, match=r"an equal part for each of 2 neighbours; got 3 elements"):
        cart.Neighbor_alltoall(xp.zeros(3), xp.zeros(3))
    cart.Free()


def test_neighbors_in_a_graph():
    graph = comm.Create_dist_graph_adjacent([(rank - 1) % size], [(rank + 1) % size])
    assert graph.Get_dist_neighbors() == ([(rank - 1) % size], [(rank + 1) % size], None)
    assert graph.topology == MPI.DIST_GRAPH
    got = un.zeros(2)
    graph.Neighbor_allgather(un.full(2, float(rank)), got)
    assert got.tolist() == [(rank - 1) % size] * 2
    graph.Free()
    star = (
        comm.Create_dist_graph([0], [size], list(range(size)))
        if rank == 0
        else comm.Create_dist_graph([], [], [])
    )
    assert star.Get_dist_neighbors_count() == (1, size if rank == 0 else 0, False)
    assert star.neighbor_alltoall([f"to {r}" for r in star.outedges]) == [f"to {rank}"]
    star.Free()
    with pytest.raises(TypeError, match="in no grid and no graph"):
        comm.neighbor_allgather(1)


def test_collective_calls_that_start_again():
    x, total = un.zeros(2), un.zeros(2)
    request = comm.Allreduce_init(x, total)
    for turn in range(3):
        x += 1.0
        request.Start()
        request.Wait()
        assert total.tolist() == [size * (turn + 1.0)] * 2
    again = comm.Barrier_init()
    MPI.Prequest.Startall([again])
    again.Wait()


def test_operations_of_users_and_logical_ones_of_numbers():
    def keep_larger(earlier, own, kind):
        a, b = np.frombuffer(earlier, kind.dtype), np.frombuffer(own, kind.dtype)
        b[:] = np.maximum(a, b)

    op = MPI.Op.Create(keep_larger, commute=True)
    out = un.zeros(2)
    comm.Allreduce(un.asarray([rank, -rank], dtype="f8"), out, op)
    assert out.tolist() == [size - 1, 0]
    got = np.zeros(1)
    comm.Scan(np.array([float(size - rank)]), got, op)
    assert got[0] == size
    assert not op.is_predefined and MPI.SUM.is_commutative
    any_ = np.zeros(2, "i")
    comm.Reduce(np.array([rank, 0], "i"), any_ if rank == 0 else None, MPI.LOR, 0)
    if rank == 0:
        assert any_.tolist() == [int(size > 1), 0]
    pair = np.zeros(1, dtype=[("value", "f8"), ("place", "i4")])
    comm.Allreduce(np.array([(-float(rank), rank)], pair.dtype), pair, MPI.MINLOC)
    assert pair[0].tolist() == (1.0 - size, size - 1)
    with pytest.raises(
        TypeError, match="Allreduce: no operation on buffers; got unisono.mpi.MAXLOC"
    ):
        comm.Allreduce(np.ones(2), np.ones(2), MPI.MAXLOC)
    x = np.array([2.0 * rank])
    comm.Allreduce(MPI.IN_PLACE, x, op)
    assert x[0] == 2 * (size - 1)


def test_types_made_of_bytes():
    kind = MPI.Datatype.Create_struct([1, 2], [0, 8], [MPI.DOUBLE, MPI.INT]).Commit()
    assert (kind.size, kind.extent) == (16, 16)
    records = np.zeros(3, dtype=[("m", "f8"), ("n", "i4", 2)])
    records["m"], records["n"] = rank, rank + 1
    right, left = (rank + 1) % size, (rank - 1) % size
    got = np.zeros_like(records)
    comm.Sendrecv([records, 3, kind], right, 0, [got, 3, kind], left, 0)
    assert got["m"].tolist() == [left] * 3 and got["n"][2].tolist() == [left + 1] * 2
    column = MPI.DOUBLE.Create_hvector(3, 1, 32)
    x, y = np.arange(12.0), np.zeros(3)
    comm.Sendrecv([x, 1, column], right, 0, y, left, 0)
    assert y.tolist() == [0.0, 4.0, 8.0]
    block = MPI.INT.Create_subarray([2, 3], [1, 2], [1, 0], MPI.ORDER_F)
    z = np.zeros(2, "i")
    comm.Sendrecv([np.arange(6, dtype="i"), 1, block], right, 0, z, left, 0)
    assert z.tolist() == [1, 3]
    packed = bytearray(column.Pack_size(1, comm))
    assert column.Pack(x, packed, 0, comm) == 24
    back = np.zeros(12)
    column.Unpack(packed, 0, back, comm)
    assert back[[0, 4, 8]].tolist() == [0.0, 4.0, 8.0]
    assert MPI.Datatype.fromcode("d") == MPI.DOUBLE and MPI.INT.tocode() == "i4"


class KnowsDLPackAlone:
    """An array of another library, without the buffer protocol."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_that_know_dlpack_alone_are_buffers():
    source, got = np.arange(3.0) + rank, np.zeros(3)
    right, left = (rank + 1) % size, (rank - 1) % size
    comm.Sendrecv(KnowsDLPackAlone(source), right, 0, KnowsDLPackAlone(got), left, 0)
    assert got.tolist() == [left, left + 1, left + 2]
    sent, part = KnowsDLPackAlone(source), KnowsDLPackAlone(got)
    comm.Sendrecv([sent, (2, 1), MPI.DOUBLE], right, 0, [part, 2, MPI.DOUBLE], left, 0)
    assert got.tolist() == [left + 1, left + 2, left + 2]
    total = np.zeros(3)
    comm.Allreduce(KnowsDLPackAlone(np.ones(3)), KnowsDLPackAlone(total))
    assert total.tolist() == [size] * 3


def test_communicators_are_pickled_by_name():
    import pickle

    assert pickle.loads(pickle.dumps(comm)) == comm
    assert pickle.loads(pickle.dumps(MPI.COMM_NULL)) == MPI.COMM_NULL
    made = comm.Dup()
    with pytest.raises(ValueError, match="only COMM_WORLD, COMM_SELF and COMM_NULL can be pickled"):
        pickle.dumps(made)
    made.Free()
