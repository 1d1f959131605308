"""Groups of ranks, the communicators made of them, and communicators without ranks."""

import numpy as np
import pytest
import unisono as un

MPI = un.mpi
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


def test_groups():
    world = comm.Get_group()
    assert (world.size, world.rank) == (size, rank)
    backwards = world.Incl(list(range(size - 1, -1, -1)))
    assert backwards.rank == size - 1 - rank
    assert world.Compare(backwards) == (MPI.IDENT if size == 1 else MPI.SIMILAR)
    assert backwards.Translate_ranks([0], world) == [size - 1]
    without = world.Excl([0])
    assert without.Compare(MPI.Group.Difference(world, world.Incl([0]))) == MPI.IDENT
    assert MPI.Group.Union(world.Incl([0]), without) == world
    assert MPI.Group.Intersection(without, world.Incl([0])) == MPI.GROUP_EMPTY
    assert without.rank == (MPI.UNDEFINED if rank == 0 else rank - 1)
    assert world.Range_incl([(size - 1, 0, -1)]) == backwards
    with pytest.raises(
        ValueError, match=rf"Group.Incl: no such rank; got {size}; expected 0 to {size - 1}"
    ):
        world.Incl([size])
    world.Free()
    with pytest.raises(ValueError, match=r"Group.Get_size: no group; got GROUP_NULL"):
        world.Get_size()


def test_communicators_of_groups():
    backwards = comm.group.Range_incl([(size - 1, 0, -1)])
    made = comm.Create(backwards)
    assert made.rank == size - 1 - rank
    assert MPI.Comm.Compare(comm, made) == (MPI.CONGRUENT if size == 1 else MPI.SIMILAR)
    assert MPI.Comm.Compare(comm, comm) == MPI.IDENT
    assert made.group == backwards
    first = comm.Create(comm.group.Incl([0]))
    if rank == 0:
        assert first.size == 1 and first != MPI.COMM_NULL
        first.Free()
    assert first == MPI.COMM_NULL and not first
    with pytest.raises(un.CommError, match="the communicator was freed, or this rank is not part"):
        first.Barrier()
    if rank < 2:
        pair = comm.Create_group(comm.group.Incl(range(min(size, 2))))
        assert pair.allreduce(1) == min(size, 2)
        pair.Free()
    copy = made.Clone()
    made.Free()
    assert copy.allgather(rank) == list(range(size - 1, -1, -1))
    copy.Free()


def test_kinds_of_communicators():
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    assert node.size == size
    node.Free()
    assert comm.Split(MPI.UNDEFINED) == MPI.COMM_NULL
    cart = comm.Create_cart([size], periods=[True])
    assert (cart.dims, cart.periods, cart.coords, cart.ndim) == ([size], [1], [rank], 1)
    assert cart.topology == MPI.CART and comm.topology == MPI.UNDEFINED
    cart.name = "line"
    assert cart.Get_name() == "line"
    cart.Free()
    with pytest.raises(un.UnsupportedError, match="Split_type: the kind of parts; got 17"):
        comm.Split_type(17)
    comm.Barrier()


def test_a_node_without_some_ranks():
    """Of which each takes part in turn."""
    for rank in range(comm.size):
        made = comm.Split_type(un.mpi.COMM_TYPE_SHARED if comm.rank == rank else un.mpi.UNDEFINED)
        assert bool(made) == (comm.rank == rank)
        if made:
            assert made.size == 1
            made.Free()
    turned = comm.Split_type(un.mpi.COMM_TYPE_SHARED, key=-comm.rank)
    assert turned.allgather(comm.rank) == list(range(comm.size))[::-1]
    turned.Free()


def test_a_communicator_from_a_group_alone():
    """Without a parent: only its ranks call, several at once by names of their own."""
    group = comm.Get_group()
    whole = un.mpi.Intracomm.Create_from_group(group, "whole")
    assert whole.allgather(comm.rank) == list(range(comm.size))
    if comm.rank == comm.size - 1:
        one = un.mpi.Intracomm.Create_from_group(group.Incl([comm.size - 1]), "last")
        assert one.size == 1
        one.Free()
    whole.Free()


def test_memory_for_buffered_messages_of_a_communicator():
    made = comm.Dup()
    memory = bytearray(100)
    made.Attach_buffer(memory)
    message = np.array([comm.rank])
    made.Bsend(message, (comm.rank + 1) % comm.size)
    made.Recv(message, (comm.rank - 1) % comm.size)
    made.Flush_buffer()
    assert made.Detach_buffer() is memory and made.Detach_buffer() is None
    assert message[0] == (comm.rank - 1) % comm.size
    made.Free()
