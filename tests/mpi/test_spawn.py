"""Processes that programs start or meet while they run."""

import array
import os
import shutil
import socket
import subprocess
import sys

import numpy as np
import pytest
import unisono as un
from mpi_jobs import by_python, job

MPI = un.mpi
world = MPI.COMM_WORLD
alone = pytest.mark.skipif(world.size > 1, reason="starts jobs of its own: from one rank only")
is_open_mpi = MPI.get_vendor()[0] == "Open MPI"
pytestmark = pytest.mark.skipif(not is_open_mpi, reason="Debian's MPICH starts no processes")
HINTS = MPI.Info.Create({"map_by": "slot:OVERSUBSCRIBE"})

CHILD = """
import sys
sys.path[:0] = {path!r}
import array
import numpy as np
from unisono import mpi as MPI

parent = MPI.Comm.Get_parent()
"""


def program(folder, text):
    """A program of the processes that all ranks start: rank 0's file."""
    file = folder / "child.py"
    if world.rank == 0:
        file.write_text(CHILD.format(path=[p for p in sys.path if p]) + text)
    return world.bcast(os.fspath(file))


def spawn(comm, folder, text, count=1, *arguments):
    return comm.Spawn(
        sys.executable, [program(folder, text), *arguments], maxprocs=count, info=HINTS
    )


@pytest.fixture
def root():
    """The root of calls whose root is rank 0 here."""
    return MPI.ROOT if world.rank == 0 else MPI.PROC_NULL


OF_OBJECTS = """
assert parent.Is_inter() and parent.size == MPI.COMM_WORLD.size == 2
given = parent.bcast(None, root=0)
parent.gather((given, parent.rank), root=0)
parent.reduce(parent.rank + 1, root=0)
assert parent.scatter(None, root=0) == parent.rank
assert parent.allgather(parent.rank) == list(range(parent.remote_size))
status = MPI.Status()
assert parent.recv(source=0, tag=5, status=status) == f"to {parent.rank}"
assert (status.source, status.tag) == (0, 5)
parent.send(parent.rank, dest=0, tag=6)
parent.Disconnect()
assert parent == MPI.COMM_NULL == MPI.Comm.Get_parent()
"""


def test_objects(tmp_path, root):
    parent = MPI.Comm.Get_parent()
    assert parent == MPI.COMM_NULL and not parent and isinstance(parent, MPI.Intercomm)
    child = spawn(world, tmp_path, OF_OBJECTS, 2)
    assert (child.size, child.remote_size, child.rank) == (world.size, 2, world.rank)
    child.bcast({"n": 3}, root=root)
    first = world.rank == 0
    assert child.gather(None, root=root) == ([({"n": 3}, 0), ({"n": 3}, 1)] if first else None)
    assert child.reduce(None, root=root) == (3 if first else None)
    child.scatter([0, 1] if first else None, root=root)
    assert child.allgather(world.rank) == [0, 1]
    if first:
        for k in range(2):
            child.send(f"to {k}", dest=k, tag=5)
        assert [child.recv(source=k, tag=6) for k in range(2)] == [0, 1]
    child.Disconnect()
    assert child == MPI.COMM_NULL


OF_MEMORY = """
n = array.array("i", [0])
parent.Bcast([n, MPI.INT], root=0)
parent.Reduce([array.array("d", [n[0] + 0.5]), MPI.DOUBLE], None, op=MPI.SUM, root=0)
total = np.zeros(3)
parent.Allreduce(np.full(3, 10.0), total)
assert total.tolist() == [parent.remote_size] * 3
part = np.zeros(2)
parent.Scatter(None, part, root=0)
parent.Gather(part * 2, None, root=0)
x = np.zeros(4)
parent.Recv(x, source=0)
parent.Send(x + 1, dest=0)
parent.Barrier()
parent.Disconnect()
"""


def test_memory(tmp_path, root):
    child = spawn(world, tmp_path, OF_MEMORY, 2)
    child.Bcast([array.array("i", [100]), MPI.INT], root=root)
    total = array.array("d", [0.0])
    child.Reduce(None, [total, MPI.DOUBLE], op=MPI.SUM, root=root)
    assert total[0] == (201 if world.rank == 0 else 0)
    sums = un.zeros(3)
    child.Allreduce(un.ones(3), sums)
    assert sums.tolist() == [20, 20, 20]
    child.Scatter(np.arange(4.0) if root == MPI.ROOT else None, None, root=root)
    got = np.zeros(4)
    child.Gather(None, got if root == MPI.ROOT else None, root=root)
    if world.rank == 0:
        assert got.tolist() == [0, 2, 4, 6]
        for k in range(2):
            child.Send(un.arange(4.0) * k, dest=k)
            child.Recv(got, source=k)
            assert got.tolist() == [1, 1 + k, 1 + 2 * k, 1 + 3 * k]
    child.Barrier()
    child.Disconnect()


# Each call of two groups, by MPI's function that waits, or by the one that does not.
C_WORKER = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#ifdef WAITS
#define CALL(name, other, ...) MPI_##name(__VA_ARGS__, both)
#else
#define CALL(name, other, ...) \
    do { MPI_Request r; MPI_##other(__VA_ARGS__, both, &r); MPI_Wait(&r, MPI_STATUS_IGNORE); } while (0)
#endif
int main(int argc, char** argv) {
    MPI_Comm both;
    int rank, size, others, n = 0, sums[2] = {0, 0}, all[64], mine[64], counts[64], starts[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&both);
    MPI_Comm_rank(both, &rank);
    MPI_Comm_size(both, &size);
    MPI_Comm_remote_size(both, &others);
    CALL(Bcast, Ibcast, &n, 1, MPI_INT, 0);
    double part = n + rank;
    CALL(Reduce, Ireduce, &part, NULL, 1, MPI_DOUBLE, MPI_SUM, 0);
    CALL(Gather, Igather, &rank, 1, MPI_INT, NULL, 0, MPI_INT, 0);
    CALL(Scatter, Iscatter, NULL, 0, MPI_INT, mine, 2, MPI_INT, 0);
    CALL(Gatherv, Igatherv, mine, rank + 1, MPI_INT, NULL, NULL, NULL, MPI_INT, 0);
    CALL(Scatterv, Iscatterv, NULL, NULL, NULL, MPI_INT, mine, rank + 1, MPI_INT, 0);
    sums[0] = rank; sums[1] = mine[rank];
    CALL(Allreduce, Iallreduce, sums, all, 2, MPI_INT, MPI_MAX);
    n = all[0] + 100 * all[1];
    CALL(Allgather, Iallgather, &n, 1, MPI_INT, all, 1, MPI_INT);
    for (int k = 0; k < others; ++k) mine[k] = all[k] + 10 * rank + k;
    CALL(Alltoall, Ialltoall, mine, 1, MPI_INT, all, 1, MPI_INT);
    for (int k = 0; k < others; ++k) counts[k] = 1, starts[k] = others - 1 - k;
    CALL(Alltoallv, Ialltoallv, all, counts, starts, MPI_INT, mine, counts, starts, MPI_INT);
    CALL(Reduce, Ireduce, mine, NULL, others, MPI_INT, MPI_SUM, 0);
    for (int k = 0; k < 2 * others; ++k) mine[k] = k;
    CALL(Reduce_scatter_block, Ireduce_scatter_block, mine, all, others, MPI_INT, MPI_SUM);
    for (int k = 0; k < 2 * others; ++k) mine[k] = all[0];
    for (int k = 0; k < size; ++k) counts[k] = others;
    CALL(Reduce_scatter, Ireduce_scatter, mine, all, counts, MPI_INT, MPI_SUM);
#ifdef WAITS
    MPI_Comm again;
    MPI_Comm_dup(both, &again);
    MPI_Barrier(again);
    MPI_Comm_disconnect(&again);
#else
    MPI_Request r;
    MPI_Ibarrier(both, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
#endif
    MPI_Comm_disconnect(&both);
    MPI_Finalize();
    return 0;
}
"""


def compiled(folder, waits):
    """The program in C, which rank 0 makes; skips where there is no compiler."""
    program, compiler = folder / "worker", shutil.which("mpicc")
    if world.rank == 0 and compiler:
        (folder / "worker.c").write_text(C_WORKER)
        flags = ["-DWAITS"] if waits else []
        subprocess.run([compiler, *flags, "-o", program, folder / "worker.c"], check=True)
    program = world.bcast(compiler and os.fspath(program))
    if program is None:
        pytest.skip("no mpicc")
    return program


@pytest.mark.parametrize("waits", [True, False], ids=["waits", "starts"])
def test_calls_of_a_program_in_c(tmp_path, root, waits):
    child = world.Spawn(compiled(tmp_path, waits), maxprocs=2, info=HINTS)
    first = world.rank == 0

    def call(name, *given):
        if waits:
            getattr(child, name)(*given)
        else:
            getattr(child, f"I{name.lower()}")(*given).Wait()

    def ints(*values):
        return np.array(values, "i4")

    n = world.size
    call("Bcast", ints(7), root)
    total = np.zeros(1)
    call("Reduce", None, total, MPI.SUM, root)
    assert total[0] == (15 if first else 0)
    got = ints(0, 0)
    call("Gather", None, got, root)
    assert got.tolist() == ([0, 1] if first else [0, 0])
    call("Scatter", ints(1, 2, 3, 4), None, root)
    got = ints(0, 0, 0)
    call("Gatherv", None, [got, [1, 2]], root)
    assert got.tolist() == ([1, 3, 4] if first else [0, 0, 0])
    call("Scatterv", [ints(5, 6, 7), [1, 2]], None, root)
    got = ints(0, 0)
    call("Allreduce", ints(world.rank, 3), got, MPI.MAX)
    assert got.tolist() == [1, 7]
    call("Allgather", ints(world.rank), got)
    assert got.tolist() == [n - 1 + 300] * 2
    call("Alltoall", ints(50, 60), got)
    assert got.tolist() == [2 * world.rank, 10 + 2 * world.rank]
    call("Alltoallv", [ints(1, 2), [1, 1], [1, 0]], [got, [1, 1]])
    sums = np.zeros(n, "i4")
    call("Reduce", None, sums, MPI.SUM, root)
    assert sums.tolist() == ([3] * n if first else [0] * n)
    call("Reduce_scatter_block", np.ones(2 * n, "i4"), got)
    assert got.tolist() == [4 * world.rank, 4 * world.rank + 2]
    call("Reduce_scatter", np.ones(2 * n, "i4"), got, [2] * n)
    assert got.tolist() == [2 * n, 2 * n]
    if waits:
        again = child.Dup()
        again.Barrier()
        again.Disconnect()
    else:
        child.Ibarrier().Wait()
    child.Disconnect()


OF_GROUPS = """
assert parent.Get_group().Compare(MPI.COMM_WORLD.Get_group()) == MPI.IDENT
merged = parent.Merge(True)
assert merged.rank == parent.remote_size + parent.rank
merged.allreduce(merged.rank)
first = merged.Create(merged.Get_group().Incl([0, merged.size - 1]))
if first != MPI.COMM_NULL:
    assert first.allgather("child")[0] == "parent"
    first.Free()
inter = MPI.COMM_WORLD.Create_intercomm(0, merged, 0, 3)
assert inter.allgather(1) == [0] * parent.remote_size
inter.Free()
merged.Free()
again = parent.Dup()
part = again.Split(parent.rank, 0)
if parent.rank == 0:
    assert part.allgather(5) == [7] * parent.remote_size
else:
    assert part == MPI.COMM_NULL
again.Free()
parent.Disconnect()
"""


def test_groups(tmp_path):
    child = spawn(world, tmp_path, OF_GROUPS, 2)
    there = child.Get_remote_group()
    assert there.size == 2 and there.rank == MPI.UNDEFINED
    assert child.Get_group() == world.Get_group()
    assert MPI.Group.Intersection(there, world.Get_group()).size == 0
    merged = child.Merge()
    assert (merged.rank, merged.size) == (world.rank, world.size + 2)
    assert merged.Get_group() == MPI.Group.Union(world.Get_group(), there)
    assert merged.allreduce(merged.rank) == sum(range(merged.size))
    first = merged.Create(merged.Get_group().Incl([0, merged.size - 1]))
    assert bool(first) == (world.rank == 0)
    if first:
        assert first.allgather("parent") == ["parent", "child"]
        first.Free()
    inter = world.Create_intercomm(0, merged, world.size, 3)
    assert inter.allgather(0) == [1, 1]
    inter.Free()
    merged.Free()
    again = child.Dup()
    assert again.Compare(child) == MPI.CONGRUENT
    part = again.Split(0, 0)
    assert part.remote_size == 1 and part.allgather(7) == [5]
    part.Free()
    again.Free()
    child.Disconnect()


def test_several_programs(tmp_path, root):
    file = program(tmp_path, "parent.gather(sys.argv[1:], root=0)\nparent.Disconnect()\n")
    codes = []
    given = [sys.executable] * 2, [[file, "a"], [file, "b", "c"]], [1, 2]
    if world.rank:  # what only the root says
        given = [], None, []
    child = world.Spawn_multiple(*given, info=HINTS, errcodes=codes)
    assert codes == [[MPI.SUCCESS], [MPI.SUCCESS] * 2]
    got = child.gather(None, root=root)
    assert got == ([["a"], ["b", "c"], ["b", "c"]] if world.rank == 0 else None)
    child.Disconnect()


def test_each_rank_starts_its_own(tmp_path):
    codes = []
    file = program(tmp_path, "parent.send(int(sys.argv[1]) ** 2, dest=0)\nparent.Disconnect()\n")
    arguments = [file, str(world.rank + 2)]
    child = MPI.COMM_SELF.Spawn(sys.executable, arguments, info=HINTS, errcodes=codes)
    assert child.recv() == (world.rank + 2) ** 2 and codes == [MPI.SUCCESS]
    child.Disconnect()


def test_what_is_refused():
    with pytest.raises(un.CommError, match="no such program; got './nothing-here'") as found:
        world.Spawn("./nothing-here")
    assert found.value.Get_error_class() == MPI.ERR_SPAWN
    with pytest.raises(un.CommError, match="in a folder of PATH"):
        world.Spawn("nothing-of-this-name", maxprocs=2)
    with pytest.raises(ValueError, match="at least one process"):
        world.Spawn(sys.executable, maxprocs=0)
    with pytest.raises(ValueError, match="a sequence of arguments"):
        world.Spawn(sys.executable, "-c pass")
    command, arguments = sys.executable, ["-c", "pass"]
    for given in (
        (command, [arguments], 1),
        ([command], [arguments] * 2, 1),
        ([command], arguments, 1),
        ([command], [arguments], [1, 1]),
    ):
        with pytest.raises(ValueError, match="Spawn_multiple"):
            world.Spawn_multiple(*given)
    with pytest.raises(un.UnsupportedError, match="virtual ranks start and meet no"):
        un.mesh("virtual", 1).run(lambda: MPI.COMM_WORLD.Spawn(command))


@pytest.mark.skipif(world.size < 2, reason="two groups of ranks")
def test_ports_and_names():
    half = world.size // 2
    is_low = world.rank < half
    local = world.Split(0 if is_low else 1)
    port = None
    if world.rank == 0:
        port = MPI.Open_port()
        MPI.Publish_name("unisono-test", port)
    world.Barrier()
    if world.rank == half:
        assert MPI.Lookup_name("unisono-test") == (port := MPI.Lookup_name("unisono-test"))
    made = local.Accept(port) if is_low else local.Connect(port)
    assert (made.size, made.remote_size) == (local.size, world.size - local.size)
    assert made.allgather(is_low) == [not is_low] * made.remote_size
    made.Disconnect()
    local.Free()
    if world.rank == 0:
        MPI.Unpublish_name("unisono-test", port)
        MPI.Close_port(port)
        with pytest.raises(un.CommError, match="which a program that runs must have published"):
            MPI.Lookup_name("unisono-test")


@pytest.mark.skipif(world.size < 2, reason="two ends of a socket")
def test_a_socket_connects():
    if world.rank == 0:
        with socket.create_server(("127.0.0.1", 0)) as server:
            world.send(server.getsockname(), 1)
            end, _ = server.accept()
    elif world.rank == 1:
        end = socket.create_connection(world.recv(source=0))
    if world.rank < 2:
        made = MPI.Comm.Join(end.fileno())
        end.close()
        made.send(world.rank, dest=0)
        assert made.recv(source=0) == 1 - world.rank
        made.Disconnect()
    assert MPI.COMM_SELF.size == 1
    world.Barrier()


PARENT = """
import sys
from unisono import CommError, mpi as MPI

def started(text, count=1):
    return MPI.COMM_SELF.Spawn(sys.executable, ["-c", text], maxprocs=count)
"""

MET = "from unisono import mpi; mpi.Comm.Get_parent().recv()"  # a process that Spawn waits for no more


@alone
def test_a_program_without_a_launcher_starts_processes(tmp_path):
    text = PARENT + (
        "child = started('from unisono import mpi; p = mpi.Comm.Get_parent(); p.send(7, dest=0); p.Disconnect()')\n"
        "print('got', child.recv(source=0))\n"
        "child.Disconnect()\n"
    )
    status, output = by_python(tmp_path, text)
    assert status == 0 and "got 7" in output, output


@alone
def test_the_daemon_of_a_program_without_a_launcher_polls(tmp_path):
    """By epoll it misses now and then a process that starts while another one ends."""
    text = PARENT + (
        "import glob, os\nMPI.COMM_WORLD.Get_size()\n"
        "threads = glob.glob('/proc/self/task/*/children')\n"
        "daemons = [one for thread in threads for one in open(thread).read().split()]\n"
        "found = [open(f'/proc/{one}/environ').read().split(chr(0)) for one in daemons]\n"
        "print('polls', ['EVENT_NOEPOLL=1' in one for one in found])\n"
        "print('child', os.popen('echo $EVENT_NOEPOLL').read().split())\n"
    )
    status, output = by_python(tmp_path, text)
    assert status == 0 and "polls [True]" in output and "child []" in output, output


@alone
def test_what_a_started_process_starts_is_no_rank(tmp_path):
    """It may import the package."""
    child = (
        "import subprocess, sys; from unisono import mpi; parent = mpi.Comm.Get_parent(); "
        "done = subprocess.run([sys.executable, '-c', 'import unisono.mpi'], timeout=300); "
        "parent.send(done.returncode, dest=0); parent.Disconnect()"
    )
    text = PARENT + f"child = started({child!r})\nprint('got', child.recv())\nchild.Disconnect()\n"
    status, output = by_python(tmp_path, text)
    assert status == 0 and "got 0" in output, output


@alone
def test_too_few_slots_are_told(tmp_path):
    status, output = by_python(
        tmp_path, PARENT + "started('from unisono import mpi', 1 + 999)", UNISONO_COMM_TIMEOUT="5"
    )
    assert status == 1
    assert "unisono.CommError: mpi: Spawn of 1000 processes of '" in output, output
    assert "at program.py:" in output and "OMPI_MCA_rmaps_base_oversubscribe=1" in output


@alone
@pytest.mark.parametrize(
    ("child", "call"),
    [
        ("pass", "Spawn of 1 processes of '"),  # uses no MPI
        (MET, "recv on rank 0 from rank 0"),
        (MET + "; import os; os.kill(os.getpid(), 9)", "recv on rank 0 from rank 0"),
        (MET + "; 1 / 0", "recv on rank 0 from rank 0"),
    ],
)
def test_a_process_that_ends_keeps_nobody_waiting(tmp_path, child, call):
    text = (
        PARENT
        + f"""
try:
    child = started({child!r})
    child.send(1, dest=0)
    child.recv(source=0)
except CommError as error:
    print("told", error)
"""
    )
    status, output = by_python(tmp_path, text, UNISONO_COMM_TIMEOUT="1")
    assert "told mpi: waited 1 seconds in " + call in output, output


@alone
def test_an_error_in_a_started_process_ends_a_job(tmp_path):
    text = PARENT + "started('from unisono import mpi; raise KeyError(\"lost\")').recv(source=0)\n"
    status, output = job(tmp_path, 1, text, head="")
    assert status != 0 and "KeyError: 'lost'" in output, output


@alone
@pytest.mark.parametrize("by_launcher", [True, False])
def test_a_started_process_may_compute_for_as_long_as_it_likes(tmp_path, by_launcher):
    """Longer than ranks wait for those that do nothing; and the other way round."""
    compute = (
        "import time; end = time.process_time() + 1.5\nwhile time.process_time() < end: pass\n"
    )
    child = f"from unisono import mpi\np = mpi.Comm.Get_parent()\n{compute}p.send(7, dest=0)\n"
    child += "assert p.recv(source=0) == 8\np.Disconnect()"
    text = PARENT + (
        f"child = started({child!r})\nassert child.recv(source=0) == 7\n{compute}"
        "child.send(8, dest=0)\nchild.Disconnect()\nprint('done')\n"
    )
    how = {"UNISONO_COMM_TIMEOUT": "0.5"}
    if by_launcher:
        status, output = job(tmp_path, 1, text, head="", **how)
    else:
        status, output = by_python(tmp_path, text, **how)
    assert status == 0 and "done" in output, output
