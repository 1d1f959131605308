"""`un.cluster`: engines of ipyparallel under MPI."""

import os
import runpy
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import unisono as un
from mpi_jobs import LIMIT

pytestmark = [
    pytest.mark.skipif(
        un.mpi.COMM_WORLD.size > 1, reason="starts MPI jobs of its own: from one rank only"
    ),
]


@pytest.fixture(autouse=True)
def as_root(monkeypatch):
    if os.getuid() == 0:
        monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
        monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


@pytest.fixture(scope="module")
def engines():
    pytest.importorskip("ipyparallel")
    with pytest.MonkeyPatch.context() as patch:
        if os.getuid() == 0:
            patch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
            patch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        with un.cluster(2, grace=5, timeout=LIMIT) as started:
            started.execute("m = un.mesh('mpi')")
            yield started
            of_magics = started._view(started.ranks)
    assert repr(started) == "<cluster of 2 engines: closed>"
    with pytest.raises(un.CommError, match="it was closed"):
        started.pull("x")
    with pytest.raises(un.CommError, match="it was closed; start another"):
        of_magics.execute("x")


def test_push_and_pull(engines):
    engines.push(a=3)
    engines["b"] = un.arange(3)
    assert engines["a"] == [3, 3] and engines[1].pull("a") == 3
    assert engines.pull(["a", "b"])[1][1].tolist() == [0, 1, 2]
    engines[0].push(only=1)
    assert engines[:1].pull("only") == [1]


def test_functions_and_files_run_on_all_ranks(engines, tmp_path):
    assert engines.apply(lambda x, y: x + y + un.mpi.COMM_WORLD.rank, 1, y=2) == [3, 4]
    assert engines[1].apply(lambda: un.mpi.COMM_WORLD.rank) == 1
    program = tmp_path / "program.py"
    program.write_text("twice = 2 * un.mpi.COMM_WORLD.rank\nif twice:\n    1 / 0\n")
    with pytest.raises(un.RemoteError, match=r"rank 1 of 2: ZeroDivisionError(?s:.)*program.py:3"):
        engines.run(program)
    assert engines["twice"] == [0, 2]


def test_what_ranks_print_and_display_has_their_number(engines, capsys):
    engines.execute("print('hello')\nm.rank * 10")
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "[0] 0",
        "[0] hello",
        "[1] 10",
        "[1] hello",
    ]


def test_distributed_arrays_stay_where_they_are(engines, capsys):
    engines.execute("u = un.arange(10.0, mesh=m) * 2\nu")
    shown = capsys.readouterr().out
    assert (
        "[1] distributed array: shape (10,), float64, layout ('block',); rank 1 of 2 has [5:10]"
        in shown
    )
    u = engines["u"]
    assert repr(u).splitlines() == [
        "u: distributed array, shape (10,), float64, layout ('block',), on 2 ranks",
        "  rank 0: [0:5]",
        "  rank 1: [5:10]",
    ]
    with pytest.raises(
        AttributeError, match=r"no 'sum': its elements are on the engines; compute there"
    ):
        u.sum()
    engines.execute("del u")  # the handle keeps it
    assert u.local(-1).tolist() == [10, 12, 14, 16, 18]
    assert np.array_equal(np.asarray(u), np.arange(10) * 2.0)
    with pytest.raises(
        ValueError, match="is a distributed array, which lies on all ranks; got ranks 1"
    ):
        engines.execute("u = un.ones(3, mesh=m)")
        engines[1].pull("u")


def test_an_exception_has_its_rank_and_line(engines):
    with pytest.raises(un.RemoteError) as caught:
        engines.execute("x = 1\nif m.rank == 1:\n    x / 0  # here\n")
    assert caught.value.rank == 1 and list(caught.value.errors) == [1]
    text = str(caught.value)
    assert text.startswith("rank 1 of 2: ZeroDivisionError: division by zero\n")
    assert "----> 3     x / 0  # here" in text and "ipyparallel" not in text
    with pytest.raises(un.RemoteError, match="there is no name 'nothing' on this rank"):
        engines.pull("nothing")


def test_ranks_that_wait_for_one_that_raised_are_interrupted(engines):
    with pytest.raises(un.RemoteError) as caught:
        engines.execute(
            "import time\nif m.rank == 1:\n    raise ValueError('lost')\nwhile True: time.sleep(0.01)"
        )
    assert caught.value.errors[1][:2] == ("ValueError", "lost")
    assert caught.value.errors[0][0] == "KeyboardInterrupt"
    assert "restart() starts new engines" in str(caught.value)


def test_engines_take_requests_after_ctrl_c(engines):
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        engines.execute("import time\nwhile True: time.sleep(0.01)")
    assert engines.apply(lambda: 5) == [5, 5]


def test_names_of_some_ranks(engines):
    engines[1]["own"] = 8
    assert engines[1]["own"] == 8 and engines[[1]]["own"] == [8]
    with pytest.raises(TypeError, match=r"ranks are chosen of the cluster itself; got .*\[0\]"):
        engines[1][0]


def test_text_is_no_file(engines):
    with pytest.raises(FileNotFoundError, match=r"got 'x = 1'; .*; execute\(\) runs text"):
        engines.run("x = 1")


def test_pdb_looks_at_the_last_exception_of_a_rank(engines):
    def divide(dividend):
        return dividend / 0

    with pytest.raises(un.RemoteError):
        engines[1].apply(divide, 17)
    assert "\n17\n" in "\n" + engines.debug(1, commands=["p dividend", "quit"])
    with pytest.raises(un.RemoteError, match="nothing has raised on this rank"):
        engines[0].apply(lambda: setattr(__import__("sys"), "last_traceback", None))
        engines.debug(0, commands=[])


def test_pdb_steps_on_one_rank_of_a_program_of_all(engines):
    code = "total = m.rank + 5\nbreakpoint()\ncommon = un.mpi.COMM_WORLD.allreduce(total)\n"
    said = engines.debug(
        0, code, commands=["next", "p total", "continue", "p total * 10", "continue"]
    )
    assert "-> total = m.rank + 5" in said
    assert "\n5\n" in said and "\n50\n" in said
    assert engines["common"] == [11, 11]
    with pytest.raises(un.RemoteError, match="no debugger is attached to this rank"):
        engines.execute("breakpoint()")


def test_a_rank_that_is_killed_is_named_and_new_engines_start():
    pytest.importorskip("ipyparallel")
    with un.cluster(2, timeout=LIMIT) as c:
        with pytest.raises(un.CommError, match=r"cluster: rank 1 \(on .*\) ended by SIGKILL"):
            c.execute(
                "import os, signal\nif un.mpi.COMM_WORLD.rank == 1:\n    os.kill(os.getpid(), signal.SIGKILL)\n"
                "un.mpi.COMM_WORLD.barrier()"
            )
        with pytest.raises(un.CommError, match="restart"):
            c.pull("x")
        c.restart()
        assert c.apply(lambda: un.mpi.COMM_WORLD.allreduce(1)) == [2, 2]
        with pytest.raises(un.CommError, match=r"cluster: rank 0 \(on .*\) ended"):
            c[0].execute("os = __import__('os')\nos._exit(3)")


def test_cells_run_on_all_engines(tmp_path):
    pytest.importorskip("ipyparallel")
    cells = tmp_path / "cells.ipy"
    cells.write_text(
        """
import unisono as un
c = un.cluster(2, timeout=300)
%px u = un.ones((4, 6), mesh=un.mesh("mpi"))
get_ipython().run_cell_magic("px", "", "print('part', u.local.shape)\\nu")
get_ipython().run_cell_magic("px", "", "x = 1\\n1 / 0  # here")
"""
    )
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "IPYTHONDIR": str(tmp_path),
    }
    command = [sys.executable, "-m", "IPython", "--colors=NoColor", str(cells)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT)
    assert done.stdout.count("part (2, 6)") == 2, done.stdout + done.stderr
    assert "rank 1 of 2 has [2:4, 0:6]" in done.stdout
    assert "# here" in done.stderr + done.stdout


def test_the_example(capsys, monkeypatch):
    pytest.importorskip("ipyparallel")
    monkeypatch.setattr(sys, "argv", ["interactive"])
    example = Path(__file__).resolve().parents[2] / "examples/clusters/interactive.py"
    runpy.run_path(str(example), run_name="__main__")
    said = capsys.readouterr().out
    assert "u: distributed array, shape (200, 200), float64" in said
    assert "rank 1 of 2: ZeroDivisionError" in said
    assert "sum of the field: 268882.694953" in said


@pytest.mark.parametrize("n", [0, -3])
def test_less_than_one_engine(n):
    with pytest.raises(ValueError, match=f"cluster: at least one engine is started; got n={n}"):
        un.cluster(n)


def test_without_ipyparallel(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipyparallel", None)
    with pytest.raises(ImportError, match="pip install ipyparallel"):
        un.cluster(2)


def test_without_a_launcher():
    pytest.importorskip("ipyparallel")
    with pytest.raises(FileNotFoundError, match="'no-such-program -x'.* apt install openmpi-bin"):
        un.cluster(2, launcher="no-such-program -x")


def test_a_launcher_that_fails():
    pytest.importorskip("ipyparallel")
    with pytest.raises(un.CommError, match="did not start: bash ended with status 7\nno machine"):
        un.cluster(2, launcher=["bash", "-c", "echo no machine; exit 7"])


def test_engines_that_do_not_come():
    pytest.importorskip("ipyparallel")
    with pytest.raises(un.CommError, match="0 of 2 engines were there after 0.5 seconds; timeout="):
        un.cluster(2, launcher=["bash", "-c", "exec cat"], timeout=0.5)


def test_a_launcher_of_another_mpi():
    pytest.importorskip("ipyparallel")
    # Two jobs of one rank each: without -n 2.
    each = 'trap "kill \\$(jobs -p)" TERM; shift 2; for k in 0 1; do OMPI_COMM_WORLD_RANK=$k "$@" <&0 & done; wait'
    launcher = ["bash", "-c", each, "bash"]
    with pytest.raises(
        un.CommError, match="engine 0 of 2 is rank 0 of an MPI job of 1; is the launcher"
    ):
        un.cluster(2, launcher=launcher)
