"""CLBlast in front of the portable products, where the machine has it.

Devices that are CPUs use it where UNISONO_DEVICE_LIBRARIES names its folder only: tests of products run in a process of
their own that names it.
"""

import glob
import os
import subprocess
import sys

import numpy as np
import pytest
import unisono as un

OPENCL = [d.name for d in un.devices() if d.name.startswith("opencl")]
PLACES = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")
FOUND = [os.path.dirname(f) for p in PLACES for f in sorted(glob.glob(p + "/libclblast.so.1"))]
CHOSEN = os.environ.get("UNISONO_DEVICE_LIBRARIES", "auto")
FOLDER = CHOSEN if os.path.isdir(CHOSEN) else FOUND[0] if FOUND else "/nonexistent"
HAS = os.path.exists(os.path.join(FOLDER, "libclblast.so.1"))
SAFETY_NET = 500  # PoCL compiles its kernels
DTYPES = ["float32", "float64", "complex64", "complex128"]

pytestmark = pytest.mark.skipif(not OPENCL, reason="no OpenCL device")
with_library = pytest.mark.skipif(not HAS, reason="CLBlast is not installed")
inside = pytest.mark.skipif(
    CHOSEN != FOLDER or not HAS, reason="run by test_products_by_the_library"
)


def ran(*arguments, libraries):
    env = {
        **os.environ,
        "UNISONO_DEVICE_LIBRARIES": libraries,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, timeout=SAFETY_NET)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype[0] == "c" else 0)
    return a.astype(dtype)


def on_device(a):
    return un.asarray(a, device=OPENCL[0])


def close(got, expected):
    got = np.asarray(got.to_device("cpu"))
    assert got.dtype == expected.dtype and got.shape == expected.shape
    single = expected.dtype in (np.float32, np.complex64)
    scale = max(1.0, float(abs(expected).max()))
    assert abs(got - expected).max() <= (1e-4 if single else 1e-11) * scale


@inside
@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts(dtype):
    a, b = numbers((33, 40), dtype), numbers((40, 21), dtype, 1)
    x, y, turned = on_device(a), on_device(b), on_device(np.ascontiguousarray(b.T)).T
    for near, far in ((a, x), (a[::2], x[::2]), (a[1:-1, :], x[1:-1, :]), (a[::-1], x[::-1])):
        close(far @ y, near @ b)
        close(far @ turned, near @ b)
    close(y.T @ x.T, b.T @ a.T)
    close(x[:, 1::2] @ y[:20], a[:, 1::2] @ b[:20])
    close(x @ y[:, 0], a @ b[:, 0])
    close(x[2] @ y, a[2] @ b)


@inside
def test_stacks_and_results_in_views():
    dtype = "complex64"
    a, b = numbers((3, 2, 17, 9), dtype), numbers((2, 9, 12), dtype, 1)
    x, y = on_device(a), on_device(b)
    close(x @ y, a @ b)
    close(x @ y[0], a @ b[0])
    made = np.zeros((40, 24), dtype)
    for cut in (np.s_[3:20, :12], np.s_[1:35:2, ::2]):
        near, far = made.copy(), on_device(made)
        np.matmul(a[0, 0], b[0], out=near[cut])
        un.matmul(x[0, 0], y[0], out=far[cut])
        close(far, near)


@inside
def test_old_memory_does_not_count():
    """A result's memory may hold NaN before."""
    for n in (24, 300):
        a = numbers((n, n), "float64")
        x = on_device(a)
        for _ in range(3):
            un.eval(un.full((n, n), un.nan, device=OPENCL[0]))
            close(x @ x, a @ a)


@inside
@pytest.mark.parametrize("order", ["in", "out"])
def test_order_on_queues(order):
    a = numbers((64, 64), "float64") / 8
    x, queue = on_device(a), un.Queue(OPENCL[0], order=order)
    with un.device(OPENCL[0], queue=queue):
        y = x
        for _ in range(5):
            y = un.tanh(y @ x) + 1
    near = a
    for _ in range(5):
        near = np.tanh(near @ a) + 1
    close(y + 0, near)


@inside
def test_integers_stay_exact():
    a = np.arange(42).reshape(6, 7)
    assert (np.asarray((on_device(a) @ on_device(a.T)).to_device("cpu")) == a @ a.T).all()


@pytest.mark.slow
@with_library
@pytest.mark.skipif(CHOSEN == FOLDER, reason="runs the others")
def test_products_by_the_library():
    out = ran("-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, libraries=FOLDER)
    assert " passed" in out and "failed" not in out


PROGRAM = f"""
import numpy as np, unisono as un
a = np.random.default_rng(0).normal(size=(200, 200))
x = un.asarray(a, device={OPENCL[:1]}[0])
print(np.asarray((x @ x).to_device("cpu")).tobytes().hex()[:4000])
"""


@with_library
def test_the_setting_chooses():
    """The library's products have its rounding. A CPU's are the portable ones unless its folder is named."""
    portable = ran("-c", PROGRAM, libraries="none")
    assert ran("-c", PROGRAM, libraries=FOLDER) != portable
    if OPENCL[0].startswith("opencl:cpu"):
        assert ran("-c", PROGRAM, libraries="auto") == portable


def test_doctor_says_where_it_is():
    said = ran("-m", "unisono", "doctor", libraries=FOLDER)
    assert "CLBlast: " + (FOLDER if HAS else "not found") in said
    assert "CLBlast: not wanted" in ran("-m", "unisono", "doctor", libraries="none")
