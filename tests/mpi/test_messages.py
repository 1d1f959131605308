"""Messages and collective calls between ranks, of arrays, buffers and objects."""

import array
import doctest
import importlib
import pkgutil
import subprocess
import sys

import numpy as np
import pytest
import unisono as un
from mpi_jobs import job

comm = un.mpi.COMM_WORLD
rank, size = comm.rank, comm.size
right, left = (rank + 1) % size, (rank - 1) % size
alone = pytest.mark.skipif(size > 1, reason="starts MPI jobs of its own: from one rank only")

DTYPES = [
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip


def numbers(dtype, shape, of=rank):
    """Elements that tell the rank they come from."""
    return (np.arange(np.prod(shape)).reshape(shape) % 7 + of).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_go_round(dtype):
    x = un.asarray(numbers(dtype, (3, 4)))
    y = un.empty((3, 4), dtype)
    comm.Sendrecv(x, right, 5, y, left, 5)
    assert np.array_equal(np.asarray(y), numbers(dtype, (3, 4), left))


def test_a_refused_exchange_takes_no_later_message():
    untouched, got = np.zeros(2), np.zeros(2)
    with pytest.raises(TypeError, match="Isend: no memory to send; got object"):
        comm.Sendrecv(object(), right, 5, untouched, left, 5)
    with pytest.raises(TypeError, match="object"):
        comm.Isendrecv(object(), right, 5, untouched, left, 5)
    comm.Sendrecv(np.full(2, rank + 1.0), right, 5, got, left, 5)
    assert got.tolist() == [left + 1] * 2 and untouched.tolist() == [0, 0]


def test_lazy_operands_are_computed_and_readers_keep_old_elements():
    x = un.arange(1000.0) + rank
    y = un.zeros(1000)
    before = y + 1  # reads y before it is received into
    comm.Sendrecv(x * 2, right, 0, y, left, 0)
    after = y + 1
    assert np.array_equal(np.asarray(before), np.ones(1000))
    assert np.array_equal(np.asarray(after), (np.arange(1000.0) + left) * 2 + 1)


def test_rows_columns_and_strided_views():
    u = un.zeros((6, 5))
    u[1] = rank + 1
    request = comm.Isend(u[1], right, 1)
    comm.Recv(u[-1], left, 1)
    request.Wait()
    assert np.asarray(u)[-1].tolist() == [left + 1] * 5
    assert np.asarray(u)[2:-1].sum() == 0
    request = comm.Isend(u[::2, 1], right, 2)  # neither is packed
    comm.Recv(u[::-2, 3], left, 2)
    request.Wait()
    column = np.zeros(6)
    column[-1] = left + 1
    expected = np.asarray(u)[:, 3]
    assert expected.tolist()[::-2] == [0, 0, 0]
    assert expected.tolist()[4] == 0


def test_device_arrays_are_staged():
    for device in un.devices():
        x = un.asarray(np.arange(5.0) + rank, device=device)
        y = un.zeros(5, device=device)
        comm.Sendrecv(x + 1, right, 0, y, left, 0)
        assert y.device == x.device
        assert y.to_device("cpu").tolist() == (np.arange(5.0) + left + 1).tolist()
        total = un.zeros(5, device=device)
        comm.Allreduce(x, total)
        assert (
            total.to_device("cpu").tolist() == sum(np.arange(5.0) + r for r in range(size)).tolist()
        )


def test_buffers_of_others():
    for make in (np.zeros, lambda n: array.array("d", [0.0] * n)):
        x, y = make(4), make(4)
        x[0] = rank
        comm.Sendrecv(x, right, 0, y, left, 0)
        assert y[0] == left
    data = bytearray(3)
    comm.Sendrecv(bytes([rank] * 3), right, 0, data, left, 0)
    assert data == bytes([left] * 3)


def test_non_blocking_receives_in_any_order():
    outs = [un.zeros(3) for _ in range(4)]
    receives = [comm.Irecv(out, left, tag) for tag, out in enumerate(outs)]
    sends = [comm.Isend(un.full(3, 10.0 * rank + tag), right, tag) for tag in reversed(range(4))]
    for request in reversed(receives):
        status = un.mpi.Status()
        request.Wait(status)
        assert status.source == left and status.Get_count("float64") == 3
    un.mpi.Request.Waitall(sends)
    assert [out[0].item() for out in outs] == [10 * left + tag for tag in range(4)]


def test_waiting_for_any_request():
    outs = [un.zeros(3) for _ in range(3)]
    receives = [comm.Irecv(out, left, tag) for tag, out in enumerate(outs)]
    assert not un.mpi.Request.Testall(receives)
    comm.Barrier()
    sends, met, status = [], [], un.mpi.Status()
    for tag in (2, 0, 1):
        sends.append(comm.Isend(un.full(3, 10.0 * rank + tag), right, tag))
        met.append(un.mpi.Request.Waitany(receives, status))
        assert status.tag == tag and outs[tag][0].item() == 10 * left + tag
        comm.Barrier()
    assert met == [2, 0, 1] and un.mpi.Request.Waitany(receives) == un.mpi.UNDEFINED
    with pytest.raises(TypeError, match="element 1 is 'NoneType'; expected a Request"):
        un.mpi.Request.Waitany([receives[0], None])
    un.mpi.Request.Waitall(sends)
    assert un.mpi.Request.Testall(sends + receives)


def test_a_request_that_is_dropped_still_sends():
    comm.Isend(un.full(100_000, float(rank)), right, 3)
    y = un.empty(100_000)
    comm.Recv(y, left, 3)
    assert y.min().item() == y.max().item() == left


def test_objects_go_round():
    objects = [{"rank": rank, "x": un.arange(3) + rank}, None, "text", (1, 2.5), np.arange(2)]
    for thing in objects:
        got = comm.sendrecv(thing, right, 4, source=left, recvtag=4)
        assert type(got) is type(thing)
    got = comm.sendrecv(un.arange(4.0) + rank, right, source=left)
    assert isinstance(got, un.ndarray) and got.tolist() == (np.arange(4.0) + left).tolist()


def test_object_receives_match_in_the_order_of_their_calls():
    first, second = comm.irecv(source=left, tag=1), comm.irecv(source=left, tag=1)
    sends = [comm.isend(word, right, 1) for word in ("one", "two")]
    assert second.wait() == "two"
    assert first.test() == (True, "one")
    assert un.mpi.Request.waitall(sends) == [None, None]


def test_probe_tells_the_size():
    request = comm.Isend(np.arange(5), right, 9)
    status = un.mpi.Status()
    comm.Probe(left, 9, status)
    assert (status.source, status.tag, status.bytes) == (left, 9, 40)
    assert comm.iprobe(left, 9) and not comm.iprobe(left, 10)
    comm.Recv(np.empty(5, int), left, 9)
    request.Wait()


def test_no_rank_is_a_partner_that_does_nothing():
    x = un.ones(3)
    comm.Send(x, un.mpi.PROC_NULL)
    comm.Recv(x, un.mpi.PROC_NULL)
    assert x.tolist() == [1, 1, 1]
    assert comm.recv(source=un.mpi.PROC_NULL) is None


def test_bcast_gather_scatter():
    for root in range(size):
        x = un.arange(6.0) * (rank + 1)
        comm.Bcast(x, root)
        assert x.tolist() == (np.arange(6.0) * (root + 1)).tolist()
        whole = un.empty((size, 2)) if rank == root else None
        comm.Gather(un.full(2, float(rank)), whole, root)
        if rank == root:
            assert whole[:, 1].tolist() == list(range(size))
        part = un.empty(3, "int64")
        comm.Scatter(un.arange(3 * size) if rank == root else None, part, root)
        assert part.tolist() == list(range(3 * rank, 3 * rank + 3))
        assert comm.bcast(("root", rank), root) == ("root", root)
        assert comm.gather(rank * 2, root) == (
            list(range(0, 2 * size, 2)) if rank == root else None
        )
        assert comm.scatter([[r] for r in range(size)] if rank == root else None, root) == [rank]


def test_uneven_shares():
    counts = [r + 1 for r in range(size)]
    x, whole = un.full(rank + 1, float(rank)), un.empty(sum(counts))
    comm.Allgatherv(x, [whole, counts])
    assert whole.tolist() == [r for r in range(size) for _ in range(r + 1)]
    out = un.empty(rank + 1)
    comm.Scatterv([whole, counts] if rank == 0 else None, out)
    assert out.tolist() == [rank] * (rank + 1)
    got = un.empty(sum(counts)) if rank == size - 1 else None
    comm.Gatherv(x, [got, counts], size - 1)
    if rank == size - 1:
        assert got.tolist() == whole.tolist()
    sent, received = un.full(size * (rank + 1), float(rank)), un.empty(sum(counts))
    comm.Alltoallv([sent, [rank + 1] * size], [received, counts])
    assert received.tolist() == whole.tolist()


def test_allgather_and_alltoall():
    whole = un.empty((size, 2))
    comm.Allgather(un.full(2, float(rank)), whole)
    assert whole[:, 0].tolist() == list(range(size))
    whole[rank] = -1.0
    comm.Allgather(un.mpi.IN_PLACE, whole)
    assert whole[:, 1].tolist() == [-1] * size
    out = un.empty(size, "int64")
    comm.Alltoall(un.arange(size) + 10 * rank, out)
    assert out.tolist() == [10 * r + rank for r in range(size)]
    assert comm.allgather("abc"[: rank % 3]) == ["abc"[: r % 3] for r in range(size)]
    assert comm.alltoall([(rank, r) for r in range(size)]) == [(r, rank) for r in range(size)]


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ("bool", "float16")])
def test_reductions(dtype):
    x = un.asarray(numbers(dtype, (2, 3)))
    every = [numbers(dtype, (2, 3), r) for r in range(size)]
    y = un.empty((2, 3), dtype)
    comm.Allreduce(x, y)
    assert np.array_equal(np.asarray(y), np.sum(every, axis=0, dtype=dtype))
    comm.Scan(x, y)
    assert np.array_equal(np.asarray(y), np.sum(every[: rank + 1], axis=0, dtype=dtype))
    if not dtype.startswith("complex"):
        comm.Allreduce(x, y, un.mpi.MAX)
        assert np.array_equal(np.asarray(y), np.max(every, axis=0))
    out = un.zeros((2, 3), dtype) if rank == 0 else None
    comm.Reduce(x, out, un.mpi.PROD)
    if rank == 0:
        assert np.array_equal(np.asarray(out), np.prod(every, axis=0, dtype=dtype))


def test_reductions_in_place_of_bools_and_of_the_ranks_before():
    x = un.asarray([rank == 0, True, False])
    y = un.empty(3, bool)
    comm.Allreduce(x, y, un.mpi.LAND)
    assert y.tolist() == [size == 1, True, False]
    z = un.full(2, rank + 1)
    comm.Allreduce(un.mpi.IN_PLACE, z)
    assert z.tolist() == [size * (size + 1) // 2] * 2
    w = un.full(2, -1)
    comm.Exscan(un.full(2, 1), w)
    assert w.tolist() == [rank or -1] * 2


def test_reductions_of_objects_are_in_the_order_of_ranks():
    text = "abcdefgh"
    assert comm.allreduce(text[rank]) == text[:size]
    assert comm.reduce(text[rank], root=size - 1) == (text[:size] if rank == size - 1 else None)
    assert comm.scan(text[rank]) == text[: rank + 1]
    assert comm.exscan(text[rank]) == (text[:rank] or None)
    assert comm.allreduce((rank % 2, rank), un.mpi.MAXLOC) == (min(size - 1, 1), min(size - 1, 1))
    x = comm.allreduce(un.asarray([rank, -rank]), un.mpi.MAX)
    assert x.tolist() == [size - 1, 0]


def test_parts_of_the_ranks():
    half = comm.Split(rank % 2, -rank)
    mine = [r for r in range(size) if r % 2 == rank % 2][::-1]
    assert (half.rank, half.size) == (mine.index(rank), len(mine))
    assert half.allgather(rank) == mine
    node = comm.Split_nodes()
    assert node.size == size
    group = comm.Create_group(list(range(size - 1, -1, -1)))
    assert group.rank == size - 1 - rank
    for made in (half, node, group, comm.Dup()):
        made.Free()
    with pytest.raises(un.CommError, match="the communicator was freed"):
        half.Barrier()


def test_errors_say_what_to_do():
    with pytest.raises(TypeError, match="Send: no memory to send; got dict; expected an array"):
        comm.Send({}, right)
    with pytest.raises(
        TypeError, match="Allreduce: buffers differ in dtype; got float64 to send and int64"
    ):
        comm.Allreduce(un.ones(2), un.ones(2, "int64"))
    with pytest.raises(ValueError, match="got 3 elements to send and 2 to receive"):
        comm.Allreduce(un.ones(3), un.ones(2))
    with pytest.raises(TypeError, match="no such operation on elements of complex128"):
        comm.Allreduce(un.ones(2, complex), un.ones(2, complex), un.mpi.MAX)
    with pytest.raises(TypeError, match="LAND takes elements of bool; got float64"):
        comm.Allreduce(un.ones(2), un.ones(2), un.mpi.LAND)
    with pytest.raises(ValueError, match="no such root; got 99"):
        comm.Bcast(un.ones(2), 99)
    with pytest.raises(ValueError, match="rank 99"):
        comm.Send(un.ones(2), 99)
    with pytest.raises(BufferError, match="read-only"):
        comm.Recv(un.broadcast_to(un.ones(1), (3,)), left)


def test_distributed_arrays_are_not_gathered_in_silence():
    x = un.ones(8, mesh=un.mesh("mpi"))
    with pytest.raises(
        un.UnsupportedError, match=r"the array is distributed over ranks; .* x\.local"
    ):
        comm.Send(x, right)
    out = un.empty(x.local.shape)
    comm.Sendrecv(x.local * 2, rank, 0, out, rank, 0)
    assert (out == 2).all().item()


def test_messages_of_a_mesh_go_out_before_a_rank_waits():
    x = un.arange(2 * size, mesh=un.mesh("mpi")).astype(float)
    for i in range(2 * size):
        assert x.item(i) == i  # its owner has it without waiting
        comm.Barrier()


def test_a_message_that_is_too_long_is_an_error():
    request = comm.Isend(un.ones(9), right, 2)
    with pytest.raises(
        un.CommError, match=r"longer than the buffer of recv on rank .* at test_messages.py:\d+"
    ):
        comm.Recv(un.empty(3), left, 2)
    request.Wait()


def doctests():
    for package in (un.mpi, un.ga):
        yield package.__name__
        for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            if not module.name.endswith("__main__"):
                yield module.name


@alone
@pytest.mark.parametrize("name", list(doctests()))
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


@alone
def test_import_starts_no_mpi():
    text = (
        "import unisono as un; un.mpi.SUM; un.ga.C_DBL; maps = open('/proc/self/maps').read();"
        "assert 'libmpi' not in maps and 'unisono_mpi' not in maps"
    )
    subprocess.run([sys.executable, "-c", text], check=True)


@alone
def test_a_wait_has_an_end(tmp_path):
    status, output = job(
        tmp_path,
        2,
        """
        comm = un.mpi.COMM_WORLD
        if comm.rank == 0:
            comm.Recv(un.empty(3), source=1, tag=4)
        else:
            comm.recv(source=0, tag=5)
        """,
        UNISONO_COMM_TIMEOUT="2",
    )
    assert status != 0
    # Whichever rank's time ends first ends the other.
    waits = ("0 from rank 1, tag 4 at program.py:5", "1 from rank 0, tag 5 at program.py:7")
    assert any(f"waited 2 seconds in recv on rank {w}" in output for w in waits), output
    assert "all ranks end" in output


@alone
def test_an_exception_on_one_rank_ends_all(tmp_path):
    status, output = job(
        tmp_path,
        3,
        """
        comm = un.mpi.COMM_WORLD
        if comm.rank == 1:
            raise KeyError("lost")
        comm.barrier()
        """,
    )
    assert status != 0
    assert "KeyError: 'lost'" in output
    assert "rank 1 of 3 ended by KeyError; all ranks end" in output


@alone
def test_messages_that_nobody_received_are_reported(tmp_path):
    status, output = job(
        tmp_path,
        2,
        """
        comm = un.mpi.COMM_WORLD
        if comm.rank == 0:
            comm.Isend(un.ones(3), dest=1, tag=6)
        """,
    )
    assert status == 0, output
    assert "a message of 24 bytes from rank 0 to rank 1 with tag 6 was never received" in output


@alone
def test_beside_a_mesh(tmp_path):
    for first in ("un.mesh('mpi')", "un.mpi.COMM_WORLD"):
        status, output = job(
            tmp_path,
            2,
            f"""
            {first}
            m, comm = un.mesh("mpi"), un.mpi.COMM_WORLD
            x = un.ones((10, 3), mesh=m)
            assert comm.allreduce(float(x.sum())) == 60
            """,
        )
        assert status == 0, output


@alone
@pytest.mark.parametrize("first", ["from mpi4py import MPI", "un.mpi.COMM_WORLD"])
def test_beside_mpi4py(tmp_path, first):
    pytest.importorskip("mpi4py")
    status, output = job(
        tmp_path,
        2,
        f"""
        {first}
        from mpi4py import MPI
        ours, theirs = un.mpi.COMM_WORLD, MPI.COMM_WORLD
        x, y = un.arange(3.0) + ours.rank, un.empty(3)
        request = theirs.Isend(x * 2, 1 - ours.rank)
        ours.Recv(y)
        request.Wait()
        assert y.tolist() == [2.0 * (i + 1 - ours.rank) for i in range(3)]
        theirs.Allreduce(x, y)
        assert y.tolist() == [1.0, 3.0, 5.0]
        assert theirs.allgather(x)[1].tolist() == [1.0, 2.0, 3.0]
        """,
    )
    assert status == 0, output


def test_buffers_without_elements_are_not_in_place():
    """Rank 0 sends to the last alone; empty arrays have no address, or all the same."""
    empty = array.array("b")
    none = [0] * size
    mine, last = [*none[:-1], 3], size - 1
    got = array.array("b", [0] * 3)
    for _ in range(2):
        comm.Alltoallv(
            [array.array("b", [7] * 3), (mine, none)] if rank == 0 else [empty, (none, none)],
            [got, ([3, *none[1:]], none)] if rank == last else [empty, (none, none)],
        )
    assert got.tolist() == ([7] * 3 if rank == last else [0] * 3)
    assert comm.allgather(rank) == list(range(size))


def test_a_call_in_place_where_a_rank_exchanges_nothing():
    """The first and the last rank exchange elements, those between them none."""
    last, got = size - 1, np.full(3, rank, "int32")
    other = {0: last, last: 0}.get(rank)
    counts = [3 * (r == other) for r in range(size)]
    for _ in range(3):
        comm.Alltoallv(un.mpi.IN_PLACE, [got, (counts, [0] * size)])
    assert got.tolist() == [rank if other is None else other] * 3
    assert comm.allgather(rank) == list(range(size))


class Team(un.mpi.Intracomm):
    """A communicator of a program's own, as mpi4py lets one derive it: `__new__` chooses what it stands for."""

    def __new__(cls, comm=None, name="nobody"):
        if comm is not None and comm != un.mpi.COMM_NULL:
            comm = comm.Dup()
        made = super().__new__(cls, comm)
        made.team = name
        return made


def test_classes_that_derive_from_communicators():
    world = un.mpi.COMM_WORLD
    team = Team(world, "red")
    copied = team.Clone()
    assert isinstance(team, Team) and isinstance(copied, Team) and team != world
    assert (team.team, team.rank, team.size) == ("red", world.rank, world.size)
    assert copied.allreduce(1) == team.allreduce(1) == world.size
    assert un.mpi.Comm(team) == team
    copied.Free()
    team.Free()  # what it stands for: not that which it was made from
    assert team == un.mpi.COMM_NULL and world.allreduce(1) == world.size
    assert Team() == un.mpi.COMM_NULL
    grid = world.Create_cart([world.size])
    assert un.mpi.Cartcomm(grid).Get_dim() == 1
    grid.Free()
    with pytest.raises(TypeError, match="no communicator; got int"):
        un.mpi.Comm(3)


def test_errors_of_arguments_are_exceptions_of_mpi():
    with pytest.raises(un.mpi.Exception) as caught:
        comm.Send(np.zeros(1), dest=99)
    assert isinstance(caught.value, ValueError)
    assert caught.value.Get_error_class() == un.mpi.ERR_RANK
    with pytest.raises(un.mpi.Exception) as caught:
        comm.Bcast(np.zeros(1), root=99)
    assert caught.value.Get_error_class() == un.mpi.ERR_ROOT
    window = un.mpi.window(1, comm=un.mpi.COMM_SELF)
    with pytest.raises(un.mpi.Exception) as caught:
        window.put(np.zeros(1), 3)
    assert caught.value.Get_error_class() == un.mpi.ERR_RANK
    window.free()


@pytest.mark.skipif(comm.size == 1, reason="Open MPI cuts what a rank sends itself")
def test_other_errors_of_mpi_are_no_errors_of_arguments():
    other = comm.rank ^ 1
    if other < comm.size:
        with pytest.raises(un.CommError) as caught:
            comm.Sendrecv(np.zeros(3), other, 0, np.zeros(2), other, 0)
        assert not isinstance(caught.value, ValueError)
    comm.Barrier()


def test_names_of_predefined_communicators():
    assert (comm.name, un.mpi.COMM_SELF.name) == ("MPI_COMM_WORLD", "MPI_COMM_SELF")
    assert comm.Dup().Get_name() == ""
