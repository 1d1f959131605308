"""Ranks that run different programs, or that fail: all end together and say why. Each case is a job of its own."""

import functools
import os
import re
import signal
import subprocess
import sys

import mpi_jobs
import pytest
import unisono as un

pytestmark = pytest.mark.skipif(
    un.mesh("mpi").size > 1, reason="starts MPI jobs of its own: from one rank only"
)


# Beginning of the programs.
HEAD = "import sys, numpy as np, unisono as un\nm = un.mesh('mpi')\n"
job = functools.partial(mpi_jobs.job, head=HEAD)


def test_a_good_program_ends_well(tmp_path):
    status, output = job(
        tmp_path,
        3,
        """
        a = un.ones((10, 3), mesh=m)
        b = un.zeros((10, 3), mesh=m)
        b[1:-1] = a[2:] + a[:-2]  # pending at exit: its messages are completed
        if m.rank == 1:
            print("rank", m.rank)
        """,
    )
    assert status == 0, output
    assert "rank 1" in output


def test_an_exception_on_one_rank_ends_all(tmp_path):
    status, output = job(
        tmp_path,
        3,
        """
        a = un.ones((10, 3), mesh=m)
        if m.rank == 1:
            raise KeyError("lost")
        float(a.sum())
        """,
    )
    assert status != 0
    assert "KeyError: 'lost'" in output
    assert "rank 1 of 3 ended by KeyError; all ranks end" in output


def test_different_operations_are_named_on_all_ranks(tmp_path):
    status, output = job(
        tmp_path,
        3,
        """
        a = un.ones((30, 3), mesh=m)
        b = un.zeros((30, 3), mesh=m)
        un.eval()
        try:
            if m.rank == 2:
                float(a.sum())
            else:
                b[1:-1] = a[2:] + a[:-2]
                float(b.sum())
        except un.CommError as error:
            print(f"<{m.rank}> {error}", flush=True)
        """,
    )
    assert status != 0
    for rank in range(3):
        assert f"<{rank}> mesh: the ranks run different programs" in output, output
    assert "[halo exchange of float64 (30, 3)" in output and "on rank 0, 1" in output
    assert "[sum over 30 rows of float64 () at program.py:9] on rank 2" in output, output


def test_a_statement_of_one_rank_alone_is_a_divergence(tmp_path):
    status, output = job(
        tmp_path,
        2,
        """
        a = un.ones((6, 4), mesh=m)
        for k in range(3):
            if m.rank == 1 and k == 2:
                a = a * 2
            a[1:] = a[:-1] + 1
        print(float(a.sum()))
        """,
    )
    assert status != 0
    assert output.count("unisono.CommError: mesh: the ranks run different programs") == 2, output
    assert re.search(
        r"\] behind \d+ statements on rank 0 but \[.*\] behind \d+ statements on rank 1", output
    ), output


def test_other_shapes_are_a_divergence(tmp_path):
    status, output = job(
        tmp_path,
        2,
        """
        a = un.ones(100 + m.rank, mesh=m)
        print(np.asarray(a))
        """,
    )
    assert status != 0
    assert output.count("unisono.CommError: mesh: the ranks run different programs") == 2, output


@pytest.mark.parametrize(
    "statements",
    [
        "print(float(a[m.rank : m.rank + 6].sum()))",
        "a[m.rank * 6 : m.rank * 6 + 6] = m.rank; print(a)",
        "a[3 + m.rank] = 100; print(a)",
        "print(a[m.rank : m.rank + 6] * 2)",
    ],
)
def test_slices_that_begin_elsewhere_are_a_divergence(tmp_path, statements):
    """As of programs that take the slice of their own rank: a value of one would reach the others."""
    status, output = job(tmp_path, 2, f"a = un.arange(12.0, mesh=m); {statements}")
    assert status != 0
    assert output.count("unisono.CommError: mesh: the ranks run different programs") == 2, output
    assert "their slices begin elsewhere" in output and "x.local is a rank's own part" in output


def test_a_rank_that_ends_early_is_named(tmp_path):
    status, output = job(
        tmp_path,
        2,
        """
        a = un.ones(100, mesh=m)
        if m.rank == 0:
            print(float(a.sum()))
        """,
    )
    assert status != 0
    assert "[the end of the program] on rank 1" in output, output


def test_a_wait_has_an_end(tmp_path, monkeypatch):
    monkeypatch.setenv("UNISONO_COMM_TIMEOUT", "2")
    status, output = job(
        tmp_path,
        2,
        """
        import threading

        a = un.ones(100, mesh=m)
        if m.rank == 1:
            threading.Event().wait()
        print(float(a.sum()))
        """,
    )
    assert status != 0
    assert "rank 0 waited 2 seconds for other ranks in operation 1, sum over 100 rows" in output


def test_a_rank_that_computes_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setenv("UNISONO_COMM_TIMEOUT", "1")
    status, output = job(
        tmp_path,
        3,
        """
        import os
        import time

        def compute():
            end = time.process_time() + 2  # twice as long as ranks wait for those that do nothing
            while time.process_time() < end:
                pass

        comm = un.mpi.COMM_WORLD
        if m.rank == 1:
            compute()
        x = np.ones(1)
        comm.Allreduce(un.mpi.IN_PLACE, x)
        if m.rank == 2:
            compute()
        total = float(un.ones(100, mesh=m).sum())
        os.write(1, f"result {m.rank} {x[0]} {total}\\n".encode())
        if m.rank == 0:
            compute()
        """,
    )
    assert status == 0, output
    assert sorted(line for line in output.splitlines() if line.startswith("result")) == [
        f"result {rank} 3.0 100.0" for rank in range(3)
    ]


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="no threads that others keep waiting")
def test_a_rank_that_is_kept_from_the_processor_is_waited_for(tmp_path, monkeypatch):
    """While it waits itself: it would take the message if it could run."""
    monkeypatch.setenv("UNISONO_COMM_TIMEOUT", "0.5")
    status, output = job(
        tmp_path,
        2,
        """
        import os
        import signal
        import subprocess
        import threading
        import time

        comm, x = un.mpi.COMM_WORLD, np.ones(8_000_000)

        def let_others_run():
            end = time.process_time() + 0.3  # by then the first thread waits
            while time.process_time() < end:
                pass
            core = {max(os.sched_getaffinity(0))}
            os.sched_setaffinity(0, core)
            command = [sys.executable, "-c", "import os; os.write(1, b'.')\\nwhile True: pass"]
            others = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
            for other in others:
                other.stdout.read(1)
            for thread in map(int, os.listdir("/proc/self/task")):
                if thread != threading.get_native_id():
                    os.sched_setaffinity(thread, core)
                    os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
            open("others.new", "w").write(" ".join(str(other.pid) for other in others))
            os.rename("others.new", "others")

        os.chdir(os.path.dirname(__file__))
        if comm.rank == 0:
            while not os.path.exists("others"):  # it computes, as far as rank 1 knows
                pass
            others = [int(pid) for pid in open("others").read().split()]
            try:
                comm.Send(2 * x, 1)
            finally:
                for other in others:
                    os.kill(other, signal.SIGKILL)
        else:
            threading.Thread(target=let_others_run).start()
            comm.Recv(x, 0)
            print("received", x[-1])
        """,
    )
    assert status == 0 and "received 2.0" in output, output


def test_a_rank_that_was_stopped_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setenv("UNISONO_COMM_TIMEOUT", "2")
    status, output = job(
        tmp_path,
        2,
        """
        import os
        import signal

        comm = un.mpi.COMM_WORLD
        others = comm.allgather(os.getpid())
        if m.rank == 0:
            os.kill(others[1], signal.SIGSTOP)  # not killed: the launcher would end all
            try:
                comm.Recv(np.ones(3), 1, 4)
            finally:
                os.kill(others[1], signal.SIGCONT)
        else:
            while True:
                pass
        """,
    )
    assert status != 0
    assert "waited 2 seconds in recv on rank 0 from rank 1, tag 4 at program.py" in output, output


def test_messages_without_a_partner_are_reported_at_the_end(tmp_path):
    status, output = job(
        tmp_path,
        2,
        """
        comm = un.mpi.COMM_WORLD
        if comm.rank == 0:
            comm.Send(np.ones(3), 1, 7)
            large = comm.Isend(np.ones(1_000_000), 1, 8)
            used = comm.Isend(np.ones(3), 1, 10)  # complete, and never waited for
        else:
            never = comm.Irecv(np.ones(3), 0, 9)
            comm.Recv(np.ones(3), 0, 10)
        """,
    )
    assert status == 0, output
    assert sorted(line for line in output.splitlines() if line.startswith("mpi:")) == [
        "mpi: a message of 24 bytes from rank 0 to rank 1 with tag 7 was never received",
        "mpi: a message of 8000000 bytes from rank 0 to rank 1 with tag 8 was never received",
        "mpi: a recv on rank 1 from rank 0, tag 9, started at program.py:10, met no send",
        "mpi: a send from rank 0 to rank 1, tag 8, started at program.py:7, met no receive",
    ]


def test_a_rank_that_waits_is_named_before_those_that_have_ended(tmp_path, monkeypatch):
    monkeypatch.setenv("UNISONO_COMM_TIMEOUT", "2")
    status, output = job(
        tmp_path,
        2,
        """
        comm = un.mpi.COMM_WORLD
        if m.rank == 0:
            comm.Send(np.ones(1_000_000), 1, 7)
        """,
    )
    assert status != 0
    assert "waited 2 seconds in send from rank 0 to rank 1, tag 7 at program.py:6" in output, output
    assert "rank 0 of 2 ended by CommError; all ranks end" in output


def test_starting_messages_on_one_rank_alone_has_an_end(tmp_path, monkeypatch):
    monkeypatch.setenv("UNISONO_COMM_TIMEOUT", "2")
    status, output = job(tmp_path, 2, "if m.rank == 0:\n    un.mpi.COMM_WORLD.rank")
    assert status != 0
    # On a loaded machine the rank that is done waits out its time first.
    ends = (
        "mpi: waited 2 seconds in the first use of un.mpi at program.py:4",
        "the end of the program",
    )
    assert any(end in output for end in ends), output


def test_a_mesh_of_one_rank_alone_has_an_end(tmp_path, monkeypatch):
    monkeypatch.setenv("UNISONO_COMM_TIMEOUT", "2")
    text = """
    import threading, unisono as un
    if un.mpi.COMM_WORLD.rank == 1:
        threading.Event().wait()
    un.mesh("mpi")
    """
    command = mpi_jobs.command_of(tmp_path, 2, text, head="")
    done = subprocess.run(**command, capture_output=True, timeout=mpi_jobs.LIMIT)
    assert done.returncode != 0
    assert "mesh: rank 0 waited 2 seconds for other ranks" in done.stderr
    assert "the start of the mesh; did all ranks get there?" in done.stderr


@pytest.mark.parametrize(
    "waits", ["float(a.sum())", "un.mpi.COMM_WORLD.barrier()", "un.mpi.COMM_WORLD.recv(source=1)"]
)
def test_a_killed_rank_ends_the_job(tmp_path, waits):
    status, output = job(
        tmp_path,
        2,
        f"""
        import os, signal

        a = un.ones((10, 3), mesh=m)
        if m.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        {waits}
        """,
    )
    assert status != 0
    assert "rank 1" in output and "exited on signal 9 (Killed)" in output, output


def test_an_exception_inside_a_window_ends_ranks_that_wait_for_its_messages(tmp_path):
    status, output = job(
        tmp_path,
        3,
        """
        a = un.ones((30, 3), mesh=m)
        b = a[1:] + a[:-1]
        if m.rank == 2:
            un.asarray([1.0])[7]  # here
        float(b.max())
        """,
    )
    assert status != 0
    assert "un.asarray([1.0])[7]  # here" in output and "IndexError" in output
    assert "rank 2 of 3 ended by IndexError; all ranks end" in output


def test_values_of_common_statements_may_be_taken_on_one_rank(tmp_path):
    status, output = job(
        tmp_path,
        3,
        """
        a, seen = un.ones((30, 3), mesh=m), []
        for k in range(4):
            a[1:] = a[:-1] + 1
            total = a.sum()
            if m.rank == 0:
                seen.append(float(total))
        try:
            top = a.max()
            if m.rank == 2:
                raise ValueError(float(top))
        except ValueError as error:
            seen.append(str(error))
        print(f"<{m.rank}> {seen}", flush=True)
        """,
    )
    assert status == 0, output
    assert "<0> [177.0, 261.0, 342.0, 420.0]" in output, output
    assert "<1> []" in output and "<2> ['5.0']" in output


def test_import_does_not_start_mpi():
    text = (
        "import unisono as un; un.ones(3).sum().item(); maps = open('/proc/self/maps').read();"
        "assert 'libmpi' not in maps and 'unisono_mpi' not in maps"
    )
    subprocess.run([sys.executable, "-c", text], check=True)


def test_ctrl_c_at_the_launcher_ends_all_ranks(tmp_path):
    command = mpi_jobs.command_of(
        tmp_path,
        2,
        """
        import os
        a, b = un.ones((400, 50), mesh=m), un.ones((400, 50), mesh=m)
        for step in range(10**9):
            b[1:-1] = (a[2:] + a[:-2]) / 2
            a, b = b, a
            if step == 10:
                float(a.sum())
                os.write(1, b"pid %d\\n" % os.getpid())  # in one piece, beside the other rank's
        """,
        head=HEAD,
    )
    with subprocess.Popen(**command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        text, pids = "", []
        while len(pids) < 2:
            line = running.stdout.readline()
            assert line, text
            text += line
            pids = [int(pid) for pid in re.findall(r"pid (\d+)", text)]
        running.send_signal(signal.SIGINT)
        output = running.stdout.read()
        assert running.wait(timeout=mpi_jobs.LIMIT) != 0, output
    assert all(mpi_jobs.ends(pid) for pid in pids), output


def test_an_interrupt_of_one_rank_ends_all(tmp_path):
    status, output = job(
        tmp_path,
        2,
        """
        import os, signal
        a, b = un.ones((400, 50), mesh=m), un.ones((400, 50), mesh=m)
        for step in range(10**9):
            b[1:-1] = (a[2:] + a[:-2]) / 2
            a, b = b, a
            if step == 100 and m.rank == 1:
                signal.raise_signal(signal.SIGINT)
        """,
    )
    assert status != 0
    assert "KeyboardInterrupt" in output
    assert "rank 1 of 2 ended by KeyboardInterrupt; all ranks end" in output


def test_what_follows_an_interrupted_collective_call_says_so(tmp_path):
    status, output = job(
        tmp_path,
        2,
        """
        import os, signal, threading
        comm = un.mpi.COMM_WORLD
        if comm.rank == 0:
            said = ""
            while not said:  # what comes before the call has no text
                try:
                    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
                    comm.Barrier()
                except KeyboardInterrupt as error:
                    said = str(error)
            print("interrupted")
            for call in (lambda: comm.allreduce(1), comm.Dup, lambda: comm.Split(0)):
                try:
                    call()
                except un.CommError as error:
                    print("ERROR", error)
            comm.send("late", dest=1)
            comm.recv(source=1)
        else:
            comm.recv(source=0)
            comm.Barrier()
            comm.send("met", dest=0)
        print(f"sum {comm.allreduce(comm.rank + 1)}")  # in one piece
        """,
    )
    assert status == 0 and output.count("sum 3") == 2 and "interrupted\n" in output, output
    assert len(re.findall(r"ERROR mpi: (?:gather|Dup|Split) at .*: collective calls no longer match between ranks, "
        r"since barrier at program.py:\d+ was interrupted before the others made it; start the ranks anew", output)) == 3, output  # fmt: skip
