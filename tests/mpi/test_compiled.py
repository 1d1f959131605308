"""Messages and collective calls in compiled functions: the bits are those of the same calls in Python."""

import pathlib
import re

import numpy as np
import pytest
import unisono as un
from mpi_jobs import job
from unisono import mpi

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
    return (np.arange(np.prod(shape)).reshape(shape) % 7 / 3 + of).astype(dtype)


def in_both(function, *make):
    """The arrays that Python and compiled code leave, which must be the same; and the results."""
    found = []
    for called in (function, un.jit(function)):
        arrays = [m() for m in make]
        result = called(*arrays)
        found.append((result, *arrays))
    for plain, compiled in zip(*found, strict=True):
        assert type(plain) is type(compiled), (plain, compiled)
        if hasattr(plain, "dtype"):
            plain, compiled = np.asarray(plain), np.asarray(compiled)
            assert plain.dtype == compiled.dtype and plain.tobytes() == compiled.tobytes()
        else:
            assert plain == compiled
    return found[1]


@un.jit
def shift(x, y, to, source):
    if comm.rank % 2 == 0:
        comm.Send(x, to, tag=5)
        comm.Recv(y, source, 5)
    else:
        made = x.copy()
        comm.Recv(y, source=source, tag=5)
        comm.Send(made, to, 5)


@pytest.mark.skipif(size % 2, reason="an even number of ranks")
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_go_round(dtype):
    x, y = un.asarray(numbers(dtype, (3, 4))), un.empty((3, 4), dtype)
    shift(x, y, right, left)
    assert np.array_equal(np.asarray(y), numbers(dtype, (3, 4), left))


@pytest.mark.parametrize("dtype", DTYPES)
def test_both_ways_at_once(dtype):
    def f(x, y):
        comm.Sendrecv(x, right, 5, y, left, 5)
        return comm.rank + comm.size

    in_both(f, lambda: numbers(dtype, (3, 4)), lambda: np.empty((3, 4), dtype))


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex128"])
@pytest.mark.parametrize("n", [0, 5, 50_000])
def test_requests(dtype, n):
    def f(x, y, z):
        incoming = comm.Irecv(y, left, 3)
        outgoing = comm.Isend(x, right, tag=3)
        incoming.Wait()
        outgoing.wait()
        gaps = comm.Irecv(z[::2], source=left, tag=4)
        sending = comm.Issend(y[::-1], right, 4)
        while not gaps.Test():
            pass
        sending.Wait()
        sending.Wait()  # again: nothing

    in_both(
        f,
        lambda: un.asarray(numbers(dtype, n)),
        lambda: un.zeros(n, dtype),
        lambda: un.zeros(2 * n, dtype),
    )


def test_requests_of_all_neighbours():
    @un.jit
    def f(u):
        requests = [comm.Isend(u[1:2], left, 0), comm.Isend(u[-2:-1], right, 1)]
        taken = [comm.Irecv(u[:1], left, 1), comm.Irecv(u[-1:], right, 0)]
        for request in requests:
            request.Wait()
        for request in taken:
            request.Wait()

    u = np.full(6, float(rank))
    f(u)
    assert u.tolist() == [left, rank, rank, rank, rank, right]


def test_requests_of_a_list():
    def f(x, y):
        un.mpi.Request.Waitall([comm.Isend(x[k], right, k) for k in range(4)])
        incoming = [comm.Irecv(y[k], left, k) for k in range(4)]
        total, met = 0, 0
        status = un.mpi.Status()
        for _ in range(4):
            k = un.mpi.Request.Waitany(incoming, status)
            total += y[k, 0] * (status.tag == k) * (k + 1)
            met += 1 << k
        none = un.mpi.Request.Waitany(incoming)
        return total, met, none, un.mpi.Request.Testall(incoming)

    result, _, y = in_both(
        f, lambda: numbers("int64", (4, 3)) + 5, lambda: np.zeros((4, 3), "int64")
    )
    expected = numbers("int64", (4, 3), left) + 5
    assert np.array_equal(y, expected)
    assert tuple(result) == (expected[:, 0] @ [1, 2, 3, 4], 15, un.mpi.UNDEFINED, True)


def test_requests_of_different_arrays():
    def f(x, y, z):
        incoming = comm.Irecv(z[::2], left, 2), comm.Irecv(y, left, 1)
        before = un.mpi.Request.Testall(incoming)
        comm.Barrier()
        outgoing = comm.Isend(x, right, 1)
        first = un.mpi.Request.Waitany(incoming)
        comm.Barrier()
        sending = comm.Isend(x.astype("float32"), right, 2)
        second = un.mpi.Request.Waitany(incoming)
        un.mpi.Request.Waitall((outgoing, sending))
        return before, first, second, un.mpi.Request.Testall(incoming)

    result, _, y, z = in_both(
        f,
        lambda: numbers("int32", 5),
        lambda: np.zeros(5, "int32"),
        lambda: un.zeros(10, "float32"),
    )
    assert tuple(result) == (False, 1, 0, True)
    assert np.array_equal(y, numbers("int32", 5, left))
    assert np.array_equal(np.asarray(z)[::2], y)


def test_status():
    def f(x, y):
        status = un.mpi.Status()
        outgoing = comm.Isend(x[: rank + 1], right, 10 + rank)
        comm.Recv(y, un.mpi.ANY_SOURCE, un.mpi.ANY_TAG, status)
        outgoing.Wait()
        first = (status.source, status.tag, status.Get_count(), status.Get_tag())
        incoming = comm.Irecv(y, left)
        comm.Send(x[:2], right, 5)
        other = un.mpi.Status()
        incoming.Wait(other)
        comm.Sendrecv(x[:3], right, 6, y[::2], left, status=status)
        return first, (other.source, other.tag, other.bytes), (status.source, status.tag)

    first, second, third = in_both(
        f,
        lambda: un.asarray(numbers("float64", size + 3)),
        lambda: un.zeros(2 * size + 6),
    )[0]
    assert tuple(first) == (left, 10 + left, 8 * (left + 1), 10 + left)
    assert tuple(second) == (left, 5, 16) and tuple(third) == (left, 6)


def test_a_status_from_outside_is_filled_in():
    @un.jit
    def f(x, y, status):
        request = comm.Isend(x, right, 9)
        comm.Recv(y, status=status)
        request.Wait()

    status = un.mpi.Status()
    f(np.ones(3), np.zeros(4), status)
    assert (status.source, status.tag, status.Get_count("f8")) == (left, 9, 3)


def test_what_is_sent_is_what_was_there():
    @un.jit
    def f(x, y):
        incoming = comm.Irecv(y, left, 3)
        outgoing = comm.Isend(x, right, 3)
        x += 1
        incoming.Wait()
        outgoing.Wait()

    y = np.zeros(50_000)
    f(np.full(50_000, float(rank)), y)
    assert (y == left).all()


def test_requests_that_leave_compiled_code():
    @un.jit
    def start(x, y):
        return comm.Isend(x, right, 77), comm.Irecv(y, left, 77)

    y = un.zeros(2)
    outgoing, incoming = start(un.full(2, float(rank)), y)
    status = un.mpi.Status()
    incoming.Wait(status)
    while not outgoing.Test():
        pass
    assert y.tolist() == [left, left] and (status.source, status.bytes) == (left, 16)


def test_a_communicator_is_an_argument():
    @un.jit
    def f(comm, x):
        y = np.empty_like(x)
        comm.Allreduce(x, y, op=mpi.MAX)
        return y, comm.rank, comm.size, comm.Get_rank()

    half = comm.Split(rank % 2, rank)
    for c in (comm, half):
        y, *told = f(c, np.array([1.0 * rank, -rank]))
        expected = np.empty(2)
        c.Allreduce(np.array([1.0 * rank, -rank]), expected, un.mpi.MAX)
        assert np.asarray(y).tolist() == expected.tolist()
        assert told == [c.rank, c.size, c.rank]
    half.Free()


def test_views_with_gaps():
    def f(x, y):
        comm.Sendrecv(x[::2, 1], right, 2, y[::-2, 3], left, 2)
        comm.Allreduce(un.mpi.IN_PLACE, y[:, 0])

    in_both(
        f,
        lambda: un.asarray(numbers("float64", (6, 5))),
        lambda: un.asarray(numbers("float64", (6, 5)) / 7),
    )


def test_what_was_read_before_a_receive_stays():
    @un.jit
    def f(x, y):
        before = y[0] + x[0]
        comm.Sendrecv(x, right, 0, y, left, 0)
        total = before
        for _ in range(3):
            comm.Sendrecv(y, right, 0, x, left, 0)
            total += x[0]
            y[0] = x[0]
        return total

    x = np.full(1, 1.0 + rank)
    assert f(x, np.zeros(1)) == 1 + rank + sum(1.0 + (rank - 2 - k) % size for k in range(3))


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex128", "bool"])
@pytest.mark.parametrize(
    "name", ["SUM", "PROD", "MAX", "MIN", "LAND", "BAND", "LOR", "BOR", "LXOR", "BXOR"]
)
def test_reductions_of_arrays(dtype, name):
    op = getattr(un.mpi, name)
    fits = {"SUM": "ifcb", "PROD": "ifcb", "MAX": "ifb", "MIN": "ifb"}.get(
        name, "b" if name[0] == "L" else "ib"
    )

    def f(x, a, b, c, d):
        comm.Allreduce(x, a, op)
        comm.Reduce(x, b, op, root=size - 1)
        comm.Scan(x, c, op=op)
        comm.Exscan(x, d, op)

    empty = lambda: np.zeros(40, dtype)  # noqa: E731
    if np.dtype(dtype).kind not in fits:
        with pytest.raises(un.CompileError, match=name):
            un.jit(f)(numbers(dtype, 40), *(empty() for _ in range(4)))
        return
    in_both(f, lambda: numbers(dtype, 40), empty, empty, empty, empty)


@pytest.mark.parametrize("n", [3, 20_000])  # on copies, and in place
def test_collective_calls_on_arrays(n):
    def f(x, all_, everything, b, c):
        if comm.rank == 1 % comm.size:
            b += 1
        comm.Bcast(b, root=1 % comm.size)
        comm.Gather(x, all_, 0)
        comm.Allgather(x, everything)
        comm.Scatter(all_, c)
        comm.Barrier()
        comm.Alltoall(un.mpi.IN_PLACE, everything)

    in_both(
        f,
        lambda: numbers("float64", n),
        lambda: np.zeros(n * size),
        lambda: np.zeros(n * size),
        lambda: numbers("float64", n),
        lambda: np.zeros(n),
    )


def test_shares_of_several_sizes():
    counts = np.arange(1, size + 1)

    def f(x, all_, part, everything):
        comm.Gatherv(x, (all_, counts))
        comm.Scatterv((all_, counts), part, 0)
        comm.Allgatherv(x, (everything, counts))

    total = int(counts.sum())
    in_both(
        f,
        lambda: numbers("float32", rank + 1),
        lambda: np.zeros(total, np.float32),
        lambda: np.zeros(rank + 1, np.float32),
        lambda: np.zeros(total, np.float32),
    )


@pytest.mark.parametrize("x", [7 - rank, 0.1 * (rank + 1), 1.5 - 2j * rank, rank == 0])
def test_numbers(x):
    def f(x):
        comm.barrier()
        return comm.bcast(x, root=size - 1), comm.allgather(x)

    in_both(f, lambda: x)


@pytest.mark.parametrize("x", [7 - rank, 0.1 * (rank + 1)])
def test_numbers_are_combined_in_the_order_of_ranks(x):
    def f(x):
        return comm.allreduce(x), comm.allreduce(x, un.mpi.MAX), comm.scan(x, op=un.mpi.PROD)

    in_both(f, lambda: x)

    def better(a, b):
        return 2 * a - b

    def g(x):
        return comm.allreduce(x, better)

    in_both(g, lambda: x)

    def on_one(x):
        return comm.reduce(x, root=size - 1), comm.exscan(x)

    in_both(on_one, lambda: x)


def test_lists_of_numbers():
    def f(items):
        return comm.scatter(items, root=0), comm.alltoall(items)

    in_both(f, lambda: [1.5 * k + rank for k in range(size)])


def test_a_sum_over_blocks():
    @un.jit
    def pi(n):
        total = 0.0
        for k in range(comm.rank, n, comm.size):
            x = (k + 0.5) / n
            total += 4.0 / (1.0 + x * x)
        return comm.allreduce(total) / n

    assert abs(pi(100_000) - np.pi) < 1e-9


# ---- errors


def test_objects_are_refused_at_their_line():
    @un.jit
    def f(x):
        comm.send(x, 0)

    with pytest.raises(un.CompileError, match="objects travel by pickle") as caught:
        f(1.0)
    assert "comm.send(x, 0)" in str(caught.value)

    @un.jit
    def g(x):
        comm.Send(x, 0)

    with pytest.raises(un.CompileError, match=r"np\.array\(\[x\]\)") as caught:
        g(1.0)
    assert "comm.Send(x, 0)" in str(caught.value)


def test_other_calls_are_refused_at_their_line():
    @un.jit
    def f(x):
        return comm.Ibcast(x)

    with pytest.raises(un.CompileError, match="call of a communicator is not compiled") as caught:
        f(np.ones(1))
    assert "return comm.Ibcast(x)" in str(caught.value)

    @un.jit
    def g():
        return un.mpi.COMM_WORLD.rank

    with pytest.raises(un.CompileError, match="un.mpi.COMM_WORLD`? outside of the function"):
        g()

    @un.jit
    def h(x):
        return comm.allreduce(x)

    with pytest.raises(un.CompileError, match="ranks combine numbers"):
        h(np.ones(1))


def test_sizes_that_do_not_fit_are_an_error_of_the_line():
    @un.jit
    def f(x, y):
        comm.Allreduce(x, y)

    with pytest.raises(
        ValueError, match="buffers differ in size; got 3 elements to send and 2 to receive"
    ) as caught:
        f(np.ones(3), np.ones(2))
    assert any("comm.Allreduce(x, y)" in note for note in caught.value.__notes__), (
        caught.value.__notes__
    )
    with pytest.raises(TypeError, match="Allreduce: buffers differ in dtype"):
        un.jit(lambda x, y: comm.Allreduce(x, y))(np.ones(3), np.ones(3, np.int64))


def test_no_such_rank():
    @un.jit
    def f(x):
        comm.Send(x, 1000)

    with pytest.raises(ValueError, match="send from rank"):
        f(np.ones(1))


@alone
def test_a_wait_has_an_end(tmp_path):
    status, output = job(
        tmp_path,
        2,
        """
        comm = un.mpi.COMM_WORLD

        @un.jit
        def wait_for(x, tag):
            comm.Recv(x, 1 - comm.rank, tag)

        wait_for(np.ones(3), comm.rank)
        """,
        UNISONO_COMM_TIMEOUT="1.5",
    )
    assert status != 0
    assert "waited 1.5 seconds in recv on rank" in output, output
    assert "comm.Recv(x, 1 - comm.rank, tag)" in output, output


@alone
def test_ctrl_c_ends_a_wait(tmp_path):
    status, output = job(
        tmp_path,
        2,
        """
        import os, signal, threading

        comm = un.mpi.COMM_WORLD

        @un.jit
        def wait_for(x):
            comm.Recv(x, comm.rank, 0)

        if comm.rank == 0:
            request = comm.Isend(np.ones(3), comm.rank, 0)
            wait_for(np.ones(3))  # compiles it, which may take longer than the timer
            request.Wait()
            said = ""
            while not said:  # what comes before the call has no text
                try:
                    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
                    wait_for(np.ones(3))
                except KeyboardInterrupt as error:
                    said = str(error)
            print("interrupted:", said, flush=True)
        comm.barrier()
        """,
    )
    assert "interrupted: mpi: interrupted in recv on rank 0 from rank 0, tag 0" in output, output
    assert status == 0, output


@alone
def test_the_example_of_the_manual(tmp_path):
    page = (pathlib.Path(__file__).parents[2] / "docs" / "messages.md").read_text()
    text = page.partition("### In compiled functions")[2].partition("```python\n")[2]
    status, output = job(tmp_path, 2, text.partition("```")[0])
    assert status == 0, output
    assert sorted(re.findall(r"rank [01]: [\d.]+", output)) == ["rank 0: 80.0", "rank 1: 80.0"]


def test_virtual_ranks():
    if size > 1:
        return

    def program():
        comm = un.mpi.COMM_WORLD

        @un.jit
        def f(x):
            y = np.empty_like(x)
            comm.Sendrecv(x, (comm.rank + 1) % comm.size, 0, y, (comm.rank - 1) % comm.size, 0)
            return y[0], comm.allreduce(float(comm.rank))

        return f(np.full(3, float(comm.rank)))

    found = un.mesh("virtual", 5).run(program)
    assert [tuple(map(float, f)) for f in found] == [((r - 1) % 5, 10.0) for r in range(5)]
