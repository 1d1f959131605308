"""``python -m unisono.mpi program.py``: rank 0 reads modules and sends them to the others."""

import pytest
import unisono as un
from mpi_jobs import job

pytestmark = pytest.mark.skipif(
    un.mpi.COMM_WORLD.size > 1, reason="starts MPI jobs of its own: from one rank only"
)


def launch(folder, ranks, text, *arguments):
    """Exit status and output of a program that is run by the launcher."""
    return job(folder, ranks, text, *arguments, head="", options=("-m", "unisono.mpi"))


def test_a_program_runs_as_main_with_modules_of_rank_0(tmp_path):
    package = tmp_path / "helpers"
    package.mkdir()
    (package / "__init__.py").write_text("from .inner import value\n")
    (package / "inner.py").write_text("value = 42\n")
    (package / "data.txt").write_text("data\n")
    status, output = launch(
        tmp_path,
        3,
        """
        import importlib.resources
        import os
        import sys

        import helpers
        import numpy
        import xml.dom.minidom
        import unisono as un

        assert __name__ == "__main__" and sys.argv[1:] == ["a", "b"]
        comm = un.mpi.COMM_WORLD
        loaders = {type(m.__spec__.loader).__name__ for m in (helpers.inner, numpy, xml.dom.minidom)}
        assert loaders == {"SourceFileLoader" if comm.rank == 0 else "Importer"}
        assert importlib.resources.files("helpers").joinpath("data.txt").read_text() == "data\\n"

        @un.jit
        def twice(x):
            return x + x

        text = f"result {comm.rank} {twice(helpers.value)}\\n"
        os.write(1, text.encode())  # in one piece, beside the other ranks'
        """,
        "a",
        "b",
    )
    assert status == 0, output
    assert sorted(line for line in output.splitlines() if line.startswith("result")) == [
        f"result {rank} 84" for rank in range(3)
    ]


def test_other_ranks_read_few_modules_themselves(tmp_path):
    status, output = launch(
        tmp_path,
        3,
        """
        import os
        import sys
        import unisono as un

        read = [
            m.__name__
            for m in list(sys.modules.values())
            if m.__name__.startswith("unisono.mpi.") and type(m.__spec__.loader).__name__ != "Importer"
        ]
        comm = un.mpi.COMM_WORLD
        assert comm.rank == 0 or sorted(read) == ["unisono.mpi._job", "unisono.mpi._launch"], read
        os.write(1, f"result {comm.allreduce(1)}\\n".encode())
        """,
    )
    assert status == 0, output
    assert output.count("result 3") == 3


def test_help_needs_no_other_rank(tmp_path):
    status, output = job(tmp_path, 2, "", head="", options=("-m", "unisono.mpi", "--help"))
    assert status == 0 and output.count("usage: python -m unisono.mpi") == 2


def test_an_exception_shows_the_programs_line_and_ends_all(tmp_path):
    status, output = launch(
        tmp_path,
        2,
        """
        import unisono as un

        comm = un.mpi.COMM_WORLD
        if comm.rank == 1:
            raise KeyError("lost")  # here
        comm.barrier()
        """,
    )
    assert status != 0
    assert 'raise KeyError("lost")  # here' in output
    assert "rank 1 of 2 ended by KeyError; all ranks end" in output


@pytest.mark.parametrize("text, error", [("def :", "SyntaxError"), (None, "FileNotFoundError")])
def test_a_program_that_cannot_be_read_ends_all(tmp_path, text, error):
    status, output = launch(tmp_path, 2, text)
    assert status == 1
    assert error in output and "program.py" in output


def test_a_module_that_fails_does_so_in_the_program(tmp_path):
    (tmp_path / "broken.py").write_text("raise RuntimeError('broken')\n")
    status, output = launch(
        tmp_path,
        2,
        """
        try:
            import broken
        except RuntimeError as error:
            import os

            os.write(1, f"caught {error}\\n".encode())
        """,
    )
    assert status == 0, output
    assert output.count("caught broken") == 2


def test_one_rank_compiles_for_all(tmp_path, monkeypatch):
    monkeypatch.setenv("UNISONO_CACHE_DIR", str(tmp_path / "cache"))
    status, output = launch(
        tmp_path,
        3,
        """
        import os
        import numpy as np
        import unisono as un

        @un.jit
        def total(a):
            s = 0.0
            for x in a:
                s += x * x
            return s

        comm = un.mpi.COMM_WORLD
        comm.barrier()
        made = total(np.arange(10.0))
        loads = "libunisono_llvm" in open("/proc/self/maps").read()
        os.write(1, f"result {comm.rank} {made} {loads}\\n".encode())
        """,
    )
    assert status == 0, output
    results = [line.split() for line in output.splitlines() if line.startswith("result")]
    assert sorted(r[1:3] for r in results) == [[str(rank), "285.0"] for rank in range(3)]
    assert sorted(r[3] for r in results) == ["False", "False", "True"]
    assert not list((tmp_path / "cache").glob("*.lock"))
