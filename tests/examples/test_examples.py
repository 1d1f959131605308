"""Every program of examples/ runs and prints what it promises."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import unisono as un

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NEEDS = {"sum2d": "jit", "kernels": "kernel"}
PRINTS = {
    "hello": [
        r"y = \[1\.  1\.5 2\.  2\.5 3\. \]",
        "sum of y = 10.0",
        r"\[7 0 7 0\]",
        r"\[1\. 2\. 3\.\]",
    ],
    "aliasing": [
        r"through the view: \[100   1 102   3 104   5 106   7\]",
        r"overlapping: \[ 0  1  3  5  7  9 11 13\]",
        r"swapped: \[3 1 2 0\] and the snapshot is still 0",
        r"NumPy sees it: \[5\. 5\. 5\.\]",
    ],
    "explain": ["kernels launched: 1$", "buffers of that size allocated: 1$", "a value was read"],
    "devices": [
        r"computed on cpu\S*: 35",
        "asking for another: device: there is no device 'gpu:99'",
    ],
    "queues": [
        "no OpenCL device|roots are the table again: True",
        "no OpenCL device|what does: index 5000 is out of bounds for axis 0 with size 1000",
    ],
    "sum2d": [r"^36\.0$"],
    "elementwise": [
        "the filter changed nothing: True",
        r"^\[2\. .* 4\.\d*\s*\]$",
        "serial and parallel loops agree: True",
    ],
    "c_sources": [r"pi is about 3\.1", r"sum: 45\.0", r"means of rows: \[1\.5 5\.5 9\.5\]"],
    "callbacks": [r"^\[ 0\.5 -1\.   2\.   3\.  -5\. \]"],
    "extensions": [
        r"^cpu: energy 386\.643922, shifted 103\.681944, above 1: 734, queue of no vendor",
        "refused: step: u must have two axes; got 1",
    ],
    "blur": [r"^\[\[", r"^\["],
    "kernels": [r"^cpu\S*: sums of groups of eight: \[ 28\.  92\. 156\."],
}


def run(name, *arguments, folder=None):
    return subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ,
    )


def load(name):
    """A module below examples/, which are programs and no package of ours."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        return __import__(name, fromlist=["_"])
    finally:
        sys.path.remove(str(EXAMPLES))


def test_no_program_is_left_out():
    there = {path.stem for path in EXAMPLES.glob("*.py")}
    assert there == {*PRINTS, "laplace_everywhere", "mask"}


@pytest.mark.parametrize("name", PRINTS)
def test_small_program(name):
    if not hasattr(un, NEEDS.get(name, "zeros")):
        pytest.skip(f"un.{NEEDS[name]} is not there")
    done = run(name)
    assert done.returncode == 0, done.stderr
    for pattern in PRINTS[name]:
        assert re.search(pattern, done.stdout, re.MULTILINE), done.stdout


def rows_of(text):
    """The rows of the table as {method: line}."""
    lines = text.split("----\n", 1)[1].split("\n\n", 1)[0].splitlines()
    return {line.split("  ")[0].strip(): line for line in lines}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_laplace_by_every_method(dtype, tmp_path):
    done = run("laplace_everywhere", "--size=24", "--large=48", f"--dtype={dtype}", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = rows_of(done.stdout)
    wanted = [f"slices on {device}" for device in un.devices()] + ["NumPy slices"]
    if hasattr(un, "kernel"):
        wanted += [f"@un.kernel on {device}" for device in un.devices()]
    if hasattr(un, "jit"):
        wanted += ["un.prange loops", "@un.stencil", "C by un.c_module"]
        for method in ("@un.jit loops", "typed loops"):
            assert rows[method].endswith("  CPython's"), done.stdout
    for method in wanted:
        assert rows[method].endswith("NumPy's") and "NOT" not in rows[method], done.stdout
    if shutil.which("gfortran"):
        wanted += ["gfortran -O3", "gfortran -O3 -fopenmp"]
    on_ranks = [method for method in rows if method.endswith(", 2 ranks")]
    assert [method.split(",")[0] for method in on_ranks] == [
        "slices",
        *["messages"] * 2,
        "global arrays",
    ]
    assert all(rows[method].endswith("  NumPy's") for method in on_ranks), done.stdout
    assert (tmp_path / "out/laplace.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_mask_by_every_method(tmp_path):
    done = run("mask", "--shape=100x99", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for device in un.devices():
        assert re.search(rf"^statements on {device} .*x  \d+$", done.stdout, re.MULTILINE)
        if hasattr(un, "kernel"):
            assert re.search(rf"^@un.kernel on {device} .*x  \d+$", done.stdout, re.MULTILINE)
    if hasattr(un, "jit"):
        assert re.search(r"^@un.jit with un.prange .*x  \d+$", done.stdout, re.MULTILINE)
    assert (tmp_path / "out/mask.png").exists()


def test_mask_of_the_slides():
    mask_methods = load("mask_methods")
    method = mask_methods.UnisonoStatements("cpu")
    assert int(method.mask(mask_methods.make_vertices(), (1024, 1024)).sum()) == 256368


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_order_of_listing_3_1(dtype):
    """The NumPy form that long runs are compared with has the bits of CPython's loops."""
    problem, loops = load("laplace.problem"), load("laplace.python_loops")
    u = np.random.default_rng(0).random((20, 30)).astype(dtype)
    by_python, by_numpy = u.copy(), u.copy()
    loops.solve(u, by_python)
    problem.sweep_in_loop_order(u, by_numpy)
    assert problem.same_bits(by_python, by_numpy)


@pytest.mark.parametrize(
    ("program", "argument", "message"),
    [
        ("laplace_everywhere", "--size=2", "expected an integer from 3 to 30000; got '2'"),
        ("laplace_everywhere", "--size=big", "expected an integer from 3 to 30000; got 'big'"),
        ("laplace_everywhere", "--dtype=int8", "invalid choice: 'int8'"),
        (
            "mask",
            "--shape=100",
            "expected rows and columns from 1 to 16384, as 1000x1023; got '100'",
        ),
    ],
)
def test_wrong_arguments(program, argument, message):
    done = run(program, argument)
    assert done.returncode == 2
    assert message in done.stderr and "Traceback" not in done.stderr


def test_no_matplotlib(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('hidden')")
    show = "import sys; sys.path[:0] = [sys.argv[1], sys.argv[2]]; from laplace import show; "
    show += "from pathlib import Path; print(show.picture(None, Path('x.png')))"
    done = subprocess.run(
        [sys.executable, "-c", show, str(tmp_path), str(EXAMPLES)],
        capture_output=True,
        text=True,
    )
    assert "no picture: matplotlib is not installed" in done.stdout
