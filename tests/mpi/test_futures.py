"""Executors whose tasks run on other ranks, with the names of mpi4py.futures."""

import os
import threading

import numpy as np
import pytest
import unisono as un
from mpi_jobs import by_python, ends, job
from unisono.mpi import futures

comm = un.mpi.COMM_WORLD
needs_ranks = pytest.mark.skipif(comm.size == 1, reason="of one rank: threads")
alone = pytest.mark.skipif(comm.size > 1, reason="starts MPI jobs of its own: from one rank only")


def rank_of(_=None):
    return comm.rank


def fails(x):
    raise KeyError(x)


class Unpicklable(Exception):
    def __init__(self, one, two):
        super().__init__(one)


def fails_oddly():
    raise Unpicklable(1, 2)


def prepared():
    return os.environ["UNISONO_TEST_OF_FUTURES"], threading.current_thread().name


def prepare(text):
    os.environ["UNISONO_TEST_OF_FUTURES"] = text


def team_sum():
    return futures.get_comm_workers().allreduce(1)


HELD = 31  # the tag of messages between the root and tasks that it holds


def held():
    comm.send(None, 0, tag=HELD)
    comm.recv(source=0, tag=HELD)


def test_submit_and_map():
    with futures.MPICommExecutor(comm) as executor:
        if executor is not None:
            assert executor.submit(pow, 3, 2).result() == 9
            assert executor.submit(int, "11", base=2).result() == 3
            assert list(executor.map(pow, range(40), [2] * 40)) == [n * n for n in range(40)]
            assert list(executor.map(pow, range(7), [2] * 7, chunksize=3)) == [
                0,
                1,
                4,
                9,
                16,
                25,
                36,
            ]
            assert sorted(executor.map(abs, [-3, 2], unordered=True)) == [2, 3]
            assert list(executor.starmap(divmod, [(7, 2), (9, 4)])) == [(3, 1), (2, 1)]
            assert list(executor.map(abs, [])) == []
            with pytest.raises(ValueError, match="chunksize"):
                executor.map(abs, [1], chunksize=0)
            assert executor.num_workers == (comm.size - 1 or len(os.sched_getaffinity(0)))
            ready = futures.as_completed([executor.submit(abs, -k) for k in range(9)])
            assert sorted(f.result() for f in ready) == list(range(9))
        else:
            assert comm.rank
    assert comm.allreduce(1) == comm.size  # all are back


def test_arrays_travel():
    with futures.MPICommExecutor(comm) as executor:
        if executor is not None:
            ours = executor.submit(np.add, np.arange(5), 1).result()
            assert ours.tolist() == [1, 2, 3, 4, 5]
            x = un.arange(1000.0) * 2
            made = executor.submit(un.sum, x).result(), executor.submit(un.sqrt, x).result()
            assert float(made[0]) == 999000.0 and float(made[1][8]) == 4.0


@needs_ranks
@pytest.mark.parametrize("root", sorted({0, comm.size - 1}))
def test_other_ranks_compute(root):
    with futures.MPICommExecutor(comm, root) as executor:
        if executor is not None:
            assert set(executor.map(rank_of, range(50))) <= set(range(comm.size)) - {root}
    assert comm.bcast(comm.rank) == 0


@needs_ranks
def test_tasks_of_all_ranks_may_send_to_each_other():
    with futures.MPICommExecutor(comm) as executor:
        if executor is not None:
            done = [executor.submit(team_sum) for _ in range(comm.size - 1)]
            assert [f.result() for f in done] == [comm.size - 1] * (comm.size - 1)
    with pytest.raises(RuntimeError, match="does not work for an executor"):
        futures.get_comm_workers()


def test_exceptions_come_with_their_traceback():
    with futures.MPICommExecutor(comm) as executor:
        if executor is not None:
            error = executor.submit(fails, "lost").exception()
            assert isinstance(error, KeyError) and error.args == ("lost",)
            if comm.size > 1:
                assert "on rank " in str(error.__cause__) and "raise KeyError(x)" in str(
                    error.__cause__
                )
                other = executor.submit(fails_oddly).exception()
                assert type(other) is RuntimeError and str(other) == "Unpicklable: 1"
                local = executor.submit(lambda: 1)
                assert local.exception() is not None  # pickle does not know it
            assert executor.submit(abs, -1).result() == 1
            with pytest.raises(KeyError):
                list(executor.map(fails, [1]))


def test_initializer():
    try:
        with futures.MPICommExecutor(comm, initializer=prepare, initargs=("x",)) as executor:
            if executor is not None:
                assert {executor.submit(prepared).result()[0] for _ in range(5)} == {"x"}
    finally:
        os.environ.pop("UNISONO_TEST_OF_FUTURES", None)


@needs_ranks
def test_an_initializer_that_fails_breaks_the_executor(capfd):
    with futures.MPICommExecutor(comm, initializer=fails, initargs=("bad",)) as executor:
        if executor is not None:
            with pytest.raises(futures.BrokenExecutor, match="initializer"):
                executor.submit(abs, 1).result()
            with pytest.raises(futures.BrokenExecutor):
                executor.submit(abs, 1)
    if comm.rank == 0:
        assert "KeyError: 'bad'" in capfd.readouterr().err


@needs_ranks
def test_what_has_not_begun_is_cancelled():
    with futures.MPICommExecutor(comm) as executor:
        if executor is not None:
            all_of = [executor.submit(held) for _ in range(50 * comm.size)]
            workers = range(1, comm.size)
            for rank in workers:
                comm.recv(source=rank, tag=HELD)  # it has begun a task
            executor.shutdown(wait=False, cancel_futures=True)
            for rank in workers:
                comm.send(None, rank, tag=HELD)
            executor.shutdown()
            assert all(f.done() for f in all_of) and all_of[-1].cancelled()
            assert sum(f.cancelled() for f in all_of) == len(all_of) - len(workers)
            with pytest.raises(RuntimeError, match="after shutdown"):
                executor.submit(abs, 1)


def test_what_is_refused():
    with pytest.raises(ValueError, match="max_workers"):
        futures.MPIPoolExecutor(0)
    with pytest.raises(TypeError, match="initializer"):
        futures.MPIPoolExecutor(initializer=3)
    with pytest.raises(TypeError, match="no such option"):
        futures.MPIPoolExecutor(colour="red")
    with pytest.raises(ValueError, match="no such rank"):
        futures.MPICommExecutor(comm, comm.size)
    if comm.size > 1:
        with pytest.raises(un.UnsupportedError, match="python -m unisono.mpi.futures"):
            futures.MPIPoolExecutor()


PROGRAM = """
import os, sys, time
from unisono.mpi.futures import MPICommExecutor, MPIPoolExecutor, as_completed

class Point:
    def __init__(self, x):
        self.x = x

def move(point):
    return Point(point.x + 1)

def name(_):
    return __name__

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        assert sys.argv[1:] == ["a"]
        assert [p.x for p in executor.map(move, map(Point, range(20)))] == list(range(1, 21))
        print("names", set(executor.map(name, range(9))), executor.num_workers)
    with MPICommExecutor() as executor:  # of the same ranks: these run no program of their own
        print("ranks", executor.num_workers)
    with MPIPoolExecutor(1) as one, MPIPoolExecutor() as two:
        print("workers", one.num_workers, two.num_workers)
        first, second = one.submit(os.getpid).result(), two.submit(os.getpid).result()
        assert len({first, second, os.getpid()}) == 3
    left = MPIPoolExecutor().submit(time.sleep, 0.1)  # completed at the end
"""


@alone
def test_programs_of_executors(tmp_path):
    status, output = job(tmp_path, 3, PROGRAM, "a", head="", options=("-m", "unisono.mpi.futures"))
    assert status == 0, output
    assert "names {'__worker__'} 2" in output and "workers 1 1" in output
    assert "ranks 2" in output


@alone
@pytest.mark.parametrize("end", ["raise KeyError('lost')", "sys.exit(3)"])
def test_programs_that_fail_end(tmp_path, end):
    text = f"""
    import sys
    from unisono.mpi.futures import MPIPoolExecutor

    if __name__ == "__main__":
        with MPIPoolExecutor() as executor:
            print(executor.submit(abs, -1).result())
        {end}
    """
    status, output = job(tmp_path, 2, text, head="", options=("-m", "unisono.mpi.futures"))
    assert status == (3 if "exit" in end else 1), output
    assert "exit" in end or "KeyError: 'lost'" in output


@alone
def test_a_worker_that_waits_for_tasks_waits_for_ever(tmp_path):
    text = """
    import threading
    from unisono.mpi.futures import MPIPoolExecutor

    if __name__ == "__main__":
        with MPIPoolExecutor() as executor:
            executor.submit(abs, -1).result()
            threading.Event().wait(1)  # five times as long as ranks wait for each other
            print("after", executor.submit(abs, -7).result())
    """
    options = {"head": "", "options": ("-m", "unisono.mpi.futures"), "UNISONO_COMM_TIMEOUT": "0.2"}
    status, output = job(tmp_path, 2, text, **options)
    assert status == 0 and "after 7" in output, output


@alone
def test_an_executor_starts_processes():
    here = os.getcwd()
    with futures.MPIPoolExecutor(2, initializer=os.chdir, initargs=("/",)) as executor:
        assert executor.bootup().num_workers == 2
        assert executor.submit(os.getpid).result() != os.getpid()
        assert executor.submit(os.getcwd).result() == "/" != here == os.getcwd()
        error = executor.submit(int, "lost").exception()
        assert isinstance(error, ValueError) and "on rank " in str(error.__cause__)
    assert executor.num_workers == 0
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(abs, 1)


OF_PROCESSES = """
import os, sys
from unisono.mpi.futures import MPIPoolExecutor, get_comm_workers

class Point:
    def __init__(self, x):
        self.x = x

def move(point):
    return Point(point.x + 1)

def team():
    return get_comm_workers().allreduce(1)

def about(_):
    return __name__, sys.flags.optimize, os.environ["OF_TEST"], os.getcwd(), globals().get("given")

if __name__ == "__main__":
    with MPIPoolExecutor(2) as executor:
        assert [p.x for p in executor.map(move, map(Point, range(20)))] == list(range(1, 21))
        assert [f.result() for f in [executor.submit(team), executor.submit(team)]] == [2, 2]
    options = {"env": {"OF_TEST": "z"}, "wdir": "/", "globals": {"given": 5}}
    with MPIPoolExecutor(1, python_args=["-O"], **options) as executor:
        print("about", executor.submit(about, 0).result())
    os.environ["MPI4PY_FUTURES_MAX_WORKERS"] = "3"
    with MPIPoolExecutor(main=False) as executor:
        print("workers", executor.num_workers, executor.submit(max, 3, 4).result())
        lost = executor.submit(move, Point(1)).exception()
        assert "Point" in str(lost) or "move" in str(lost)
    left = MPIPoolExecutor(1).submit(print, "completed at the end", flush=True)
"""


@alone
def test_programs_without_a_launcher(tmp_path):
    status, output = by_python(tmp_path, OF_PROCESSES)
    assert status == 0, output
    assert "about ('__worker__', 1, 'z', '/', 5)" in output
    assert "workers 3 4" in output and "completed at the end" in output


@alone
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("executor.submit(abs, -1).result()", "starts an executor when a worker imports it; put"),
        ("if __name__ == '__worker__': 1 / 0\nexecutor.submit(abs, -1)", "ZeroDivisionError"),
    ],
)
def test_programs_that_workers_cannot_import(tmp_path, text, why):
    head = "from unisono.mpi.futures import MPIPoolExecutor\nexecutor = MPIPoolExecutor(2)\n"
    status, output = by_python(tmp_path, head + text)
    assert status == 1, output
    assert "BrokenExecutor: the workers cannot import the program" in output and why in output


@alone
def test_workers_end_with_a_program_that_is_killed(tmp_path):
    text = """
    import os, sys
    from unisono.mpi.futures import MPIPoolExecutor

    if __name__ == "__main__":
        executor = MPIPoolExecutor(1)
        print("worker", executor.submit(os.getpid).result(), flush=True)
        os.kill(os.getpid(), 9)
    """
    status, output = by_python(tmp_path, text)
    assert status == -9, output
    assert ends(int(output.split()[1]))
