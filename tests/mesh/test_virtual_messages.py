"""`un.mpi` between virtual ranks."""

import numpy as np
import pytest
import unisono as un


def run(ranks, program):
    return un.mesh("virtual", ranks).run(program)


def test_messages_of_arrays_and_objects():
    def program():
        comm = un.mpi.COMM_WORLD
        after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        mine, got = un.arange(5.0) + comm.rank, un.empty(5)
        comm.Sendrecv(mine * 2, after, 0, got, before, 0)
        assert got.tolist() == [2.0 * (k + before) for k in range(5)]
        request = comm.irecv(source=before, tag=3)
        comm.send({"from": comm.rank}, after, tag=3)
        assert request.wait() == {"from": before}
        status = un.mpi.Status()
        if comm.rank == 0:
            seen = set()
            for _ in range(comm.size - 1):
                comm.probe(status=status)
                seen.add(comm.recv(source=status.source, tag=status.tag))
            assert seen == set(range(1, comm.size))
        else:
            comm.ssend(comm.rank, 0, tag=comm.rank)
        return comm.rank, comm.size

    assert run(4, program) == [(r, 4) for r in range(4)]


def test_collective_calls():
    def program():
        comm = un.mpi.COMM_WORLD
        r, n = comm.rank, comm.size
        assert comm.bcast([r, "x"], root=1) == [1, "x"]
        assert comm.gather(r, root=2) == (list(range(n)) if r == 2 else None)
        assert comm.allgather(r * r) == [k * k for k in range(n)]
        assert comm.scatter([10 * k for k in range(n)] if r == 0 else None) == 10 * r
        assert comm.alltoall([(r, k) for k in range(n)]) == [(k, r) for k in range(n)]
        assert comm.allreduce(r + 1) == n * (n + 1) // 2
        assert comm.scan(1) == r + 1
        comm.barrier()
        total, each, most = un.zeros(3), np.zeros((n, 2)), np.zeros(1, "int32")
        comm.Allreduce(un.ones(3) * r, total)
        assert total.tolist() == [n * (n - 1) / 2] * 3
        comm.Allgather(np.full(2, float(r)), each)
        assert each[:, 0].tolist() == list(range(n))
        comm.Allreduce(np.full(1, r, "int32"), most, op=un.mpi.MAX)
        assert most[0] == n - 1
        x = np.full(2, r, "int64")
        comm.Bcast(x, root=n - 1)
        assert x.tolist() == [n - 1] * 2
        sums = np.zeros(2)
        comm.Exscan(np.ones(2), sums)
        assert sums.tolist() == [r, r]
        parts = np.zeros(n * (n + 1) // 2) if r == 0 else None
        comm.Gatherv(np.full(r + 1, float(r)), [parts, list(range(1, n + 1))] if r == 0 else None)
        if r == 0:
            assert parts.tolist() == [float(k) for k in range(n) for _ in range(k + 1)]
        pairs = comm.Split(r % 2, -r)
        assert pairs.allgather(r) == [k for k in reversed(range(n)) if k % 2 == r % 2]
        assert un.mpi.COMM_SELF.allgather(r) == [r]

    run(5, program)


def test_messages_beside_distributed_arrays():
    def program():
        comm = un.mpi.COMM_WORLD
        x = un.arange(10, mesh=un.mesh()) * 2
        return comm.allreduce(int(x.local.sum())), int(x.sum())

    assert run(3, program) == [(90, 90)] * 3


def test_a_deadlock_is_a_picture():
    def program():
        comm = un.mpi.COMM_WORLD
        comm.recv(source=(comm.rank + 1) % comm.size, tag=7)

    line = program.__code__.co_firstlineno + 2
    with pytest.raises(un.CommError) as caught:
        run(3, program)
    text = str(caught.value)
    assert "no rank can run, each waits for another" in text
    assert (
        f"rank 0 waits for a message from rank 1: recv on rank 0 from rank 1, tag 7 at test_virtual_messages.py:{line}"
        in text
    )
    assert "in a circle: 0 -> 1 -> 2 -> 0" in text


def test_what_is_wrong_is_refused(capfd):
    def windows():
        un.mpi.window(3)

    def mismatch():
        comm = un.mpi.COMM_WORLD
        comm.barrier() if comm.rank else comm.Bcast(np.zeros(1))

    def too_long():
        comm = un.mpi.COMM_WORLD
        if comm.rank == 0:
            comm.Send(np.zeros(4), 1)
        else:
            comm.Recv(np.zeros(2), 0)

    def left_over():
        comm = un.mpi.COMM_WORLD
        if comm.rank == 0:
            comm.Send(np.zeros(4), 1, tag=5)
        comm.barrier()

    with pytest.raises(
        un.UnsupportedError, match="windows on the memory of virtual ranks are not supported"
    ):
        run(2, windows)
    with pytest.raises(
        un.CommError, match="different collective calls; got bcast on rank 0 and barrier on rank 1"
    ):
        run(2, mismatch)
    with pytest.raises(
        un.CommError,
        match="a message of 32 bytes from rank 0 is longer than the buffer of 16 bytes",
    ):
        run(2, too_long)
    run(2, left_over)
    assert (
        "a message of 32 bytes from rank 0 to rank 1 with tag 5 was never received"
        in capfd.readouterr().err
    )


def test_waiting_by_polls_lets_others_run():
    def program():
        comm = un.mpi.COMM_WORLD
        if comm.rank == 1:
            comm.barrier()
            comm.send("there", 0)
            return None
        request = comm.irecv(source=1)
        comm.barrier()
        while not request.test()[0]:
            pass
        return request.wait()

    assert run(2, program)[1] is None


@un.jit
def drops_requests(comm, a, b, n):
    other = 1 - comm.Get_rank()
    for k in range(n):
        comm.Issend(a, other, k)
    for k in range(n):
        comm.Recv(b, other, k)
    return b[0]


def test_many_requests_that_nobody_waits_for():
    def program():
        comm = un.mpi.COMM_WORLD
        return drops_requests(comm, np.full(4, 1.0 + comm.Get_rank()), np.zeros(4), 150)

    assert un.mesh("virtual", 2).run(program) == [2.0, 1.0]
