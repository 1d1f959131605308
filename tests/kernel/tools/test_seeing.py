"""Compiled functions as profilers and debuggers see them."""

import cProfile
import os
import pstats
import shutil
import struct
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import unisono as un


@un.jit
def total(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return s


def profiled(call, *args):
    total(np.ones(3))
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        call(*args)
    finally:
        profiler.disable()
    return pstats.Stats(profiler).stats


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="cProfile sees what the interpreter runs only"
)
def test_profiles_have_a_row_per_compiled_function():
    a = np.ones(1000)

    def caller():
        for _ in range(5):
            total(a)

    stats = profiled(caller)
    code = total.py_func.__code__
    row = stats[code.co_filename, code.co_firstlineno, "total"]
    assert row[0] == row[1] == 5
    assert [key[2] for key in row[4]] == ["caller"]
    assert total(a) == 1000.0


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="as above")
def test_profiles_have_rows_of_kernels_and_of_calls_that_fail():
    @un.kernel
    def double(a):
        i = un.global_id(0)
        a[i] *= 2

    @un.jit
    def item(a, i):
        return a[i]

    def caller():
        double[3](np.ones(3))
        with pytest.raises(IndexError):
            item(np.ones(3), 5)
        with pytest.raises(TypeError):
            item()
        assert item(np.ones(3), 1) == 1.0

    names = {key[2]: row[0] for key, row in profiled(caller).items()}
    assert names["double"] == 1 and names["item"] == 3


def run(text, tmp_path, **environment):
    """Standard output of a program with `text`."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(text))
    given = {**os.environ, "JITDUMPDIR": str(tmp_path), **environment}
    made = subprocess.run(
        [sys.executable, str(program)], env=given, capture_output=True, text=True, check=True
    )
    return made.stdout


PROGRAM = """
    import os
    import numpy as np, unisono as un

    @un.jit{how}
    def root_sum(a):
        s = 0.0
        for i in range(len(a)):
            s += np.sqrt(a[i])
        return s

    assert root_sum(np.ones(100)) == 100.0
    print(os.getpid())
"""


def records(dump):
    """(id, body) of each record of a perf dump."""
    magic, version, size = struct.unpack_from("<III", dump)
    assert magic == 0x4A695444 and version == 1
    at = size
    while at < len(dump):
        kind, length = struct.unpack_from("<II", dump, at)
        yield kind, dump[at + 16 : at + length]
        at += length


@pytest.mark.parametrize(
    ("how", "environment"), [("(debug=True)", {}), ("", {"UNISONO_JIT_LINES": "1"})]
)
def test_perf_is_told_names_and_lines(tmp_path, how, environment):
    pid = int(run(PROGRAM.format(how=how), tmp_path, **environment))
    path = f"/tmp/perf-{pid}.map"
    try:
        with open(path) as file:
            rows = [line.split(" ", 2) for line in file.read().splitlines()]
    finally:
        os.remove(path)
    ours = [r for r in rows if r[2] == "root_sum (program.py)"]
    assert len(ours) == 1 and int(ours[0][1], 16) > 0
    dump = (tmp_path / f"jit-{pid}.dump").read_bytes()
    lines, loaded = set(), []
    for kind, body in records(dump):
        if kind == 2:
            address, count = struct.unpack_from("<QQ", body)
            at = 16
            for _ in range(count):
                end = body.index(b"\0", at + 16)
                if body[at + 16 : end].endswith(b"program.py"):
                    lines.add(struct.unpack_from("<I", body, at + 8)[0])
                at = end + 1
        elif kind == 0:
            address = struct.unpack_from("<Q", body, 8)[0]
            loaded.append((f"{address:x}", body[40:].split(b"\0")[0].decode()))
    assert (ours[0][0], "root_sum (program.py)") in loaded
    assert {8, 9} <= lines  # the loop, and the sum


PLANT = """
    import os
    for name in (f"/tmp/perf-{{os.getpid()}}.map", f"{folder}/jit-{{os.getpid()}}.dump"):
        {how}
"""


@pytest.mark.parametrize("how", ["os.symlink({target!r}, name)", "os.link({target!r}, name)"])
def test_files_for_profilers_are_written_through_no_link(tmp_path, how):
    target = tmp_path / "precious"
    target.write_text("mine")
    try:
        os.link(target, probe := f"/tmp/unisono-test-{os.getpid()}")
        os.remove(probe)
    except OSError:
        if "os.link" in how:
            pytest.skip("the temporary folder of this test is not on the file system of /tmp")
    plant = PLANT.format(folder=tmp_path, how=how.format(target=str(target)))
    pid = int(
        run(textwrap.dedent(plant) + textwrap.dedent(PROGRAM.format(how="(debug=True)")), tmp_path)
    )
    os.remove(f"/tmp/perf-{pid}.map")
    assert target.read_text() == "mine"
    dump = tmp_path / f"jit-{pid}.dump"
    assert not dump.is_symlink() and any(records(dump.read_bytes()))


def test_nothing_is_written_unasked(tmp_path):
    pid = int(run(PROGRAM.format(how=""), tmp_path))
    assert not os.path.exists(f"/tmp/perf-{pid}.map")
    assert not list(tmp_path.glob("jit-*.dump"))


@pytest.mark.skipif(not shutil.which("gdb"), reason="no gdb")
def test_gdb_stops_at_a_line(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM.format(how="(debug=True)")))
    made = subprocess.run(
        ["gdb", "-batch", "-nx", "-ex", "set breakpoint pending on", "-ex", "break program.py:9",
         "-ex", "run", "-ex", "bt 1", "-ex", "kill", "--args", sys.executable, str(program)],
        capture_output=True, text=True, env={**os.environ, "JITDUMPDIR": str(tmp_path)}, timeout=300,
    )  # fmt: skip
    if "ptrace" in made.stderr or "not permitted" in made.stderr:
        pytest.skip("this machine lets nobody debug")
    assert "root_sum" in made.stdout and "program.py:9" in made.stdout, made.stdout + made.stderr
