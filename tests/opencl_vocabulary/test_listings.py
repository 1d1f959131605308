"""Programs that were published for PyOpenCL run with only their import changed, each in a process of its own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import unisono.opencl as cl

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def run(ctx):
    """Runs Python in the folder of the programs; the lines that it prints."""

    def program(*arguments):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=PROGRAMS,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return program


def test_laplace(run):
    code = (
        "from laplace import solve; u = solve(32); print(solve.iterations, u.astype(float).sum())"
    )
    iterations, total = run("-c", code)[-1].split()
    assert iterations == "2001"
    assert float(total) == pytest.approx(57623.79764, abs=5e-6)


def test_vector_addition(run):
    assert run("vadd.py") == []
    assert run("vadd_arrays.py") == []


@pytest.mark.parametrize("name", ["pyopencl_example_api.py", "pyopencl_example_raw.py"])
def test_multiplication(run, name):
    device, host = run(name)
    values = "[ 2. 12. 30. 56. 90.] <class "
    assert device.startswith(values + "'unisono.opencl.") and device.endswith(".Array'> float64")
    assert host == values + "'numpy.ndarray'> float64"


def test_times(run):
    (line,) = run("profiling.py")
    assert line.startswith("GPU kernel time: ") and line.endswith(" us")


def test_doubling_in_place(queue, build, to_buffer):
    data = np.arange(26, dtype=np.float32)
    times_two = build("""__kernel void times_two(__global float *input, __global float *output)
    {
        int i = get_global_id(0);
        output[i] = 2.0f * input[i];
    }""").times_two
    buffer = to_buffer(data)
    times_two(queue, data.shape, None, buffer, buffer)
    cl.enqueue_copy(queue, data, buffer)
    assert (data == 2 * np.arange(26)).all()


@pytest.mark.parametrize("local", [None, (1, 1), (8, 1), (1, 8), (16, 16), (2, 64), (256, 1)])
def test_polygon(ctx, queue, build, to_buffer, local):
    np.random.seed(0)
    vertices = np.random.randint(0, 1024, 48).reshape(24, 2).astype(np.float32)
    kernel = build((PROGRAMS / "polygon.cl").read_text()).inside_polygon
    whole = None
    for rows, columns in ((1024, 1024), (1000, 1023)):
        mask = np.zeros((rows, columns), np.uint8)
        buffer = to_buffer(mask)
        steps = local or (1, 1)
        shape = tuple(-(-n // s) * s for n, s in zip((rows, columns), steps, strict=True))
        kernel(
            queue,
            shape,
            local,
            to_buffer(vertices),
            np.int32(24),
            buffer,
            np.int32(rows),
            np.int32(columns),
        )
        cl.enqueue_copy(queue, mask, buffer)
        whole = mask if whole is None else whole
        assert (mask == whole[:rows, :columns]).all()
    assert whole.sum() == 256368
