"""Arrays on a CUDA device: ours, CuPy's and JAX's; memory-bound rows count the bytes that must move."""

import math
import os
import time

import numpy as np

N = 1 << 27  # of float32, half as many of float64: far beyond the caches of a device
SORTED = N // 2
COLUMNS = 1 << 13
SIDE = 8192
NEAR = 16  # elements of a row of the gather
SWEEPS = 20
STATEMENTS = 1000

# What is measured, and how often the elements are read and written at least; None where arithmetic decides.
ROWS = {
    "copy": ("a copy", 2),
    "add": ("a + b", 3),
    "fused": ("a*b + c*2 - a/3", 4),
    "functions": ("sin(a)*2 + exp(-b*b)", 3),
    "sum": ("sum of a vector", 1),
    "sum-columns": ("sum along axis 0 of a matrix", 1),
    "sum-rows": ("sum along axis 1 of a matrix", 1),
    "sum-middle": ("sum along the middle axis of three", 1),
    "max-columns": ("max along axis 0 of a matrix", 1),
    "scan": ("cumsum of a vector", 2),
    "scan-rows": ("cumsum along axis 1 of a matrix", 2),
    "scan-columns": ("cumsum along axis 0 of a matrix", 2),
    "sort": ("sort of half as many elements", None),
    "argsort": ("argsort of half as many elements", None),
    "top-100": ("the 100 largest of half as many elements", None),
    "select": ("a[a < 0.3]", None),
    "matmul": ("product of square matrices", None),
    "fft": ("Fourier transform of 2**24 complex numbers", None),
    "fft2": ("Fourier transform of 4096x4096 complex numbers", None),
    "jacobi": (f"a sweep of Jacobi's method on {SIDE}x{SIDE}, in place", 2),
    "gather": (f"(v * x[columns]).sum(1), {NEAR} elements a row", None),
    "transpose": ("a transposed copy of a matrix", 2),
}
LOOPS = {
    "loop": "one of 1000 statements on 4096 float64, each of which needs the one before",
    "loop-in-place": "one of 1000 sweeps of Jacobi's method on 64x64 float64, in place",
}
STARTS = {"start": "the first result of a process beyond the driver's own start"}
DTYPES = ("float32", "float64")
PEERS = ["cupy", "jax"]


def benchmarks():
    """The rows of run.py's table."""
    made = {
        f"cuda-{row}-{dtype}": (f"{what}, {dtype}", "unisono", PEERS, ("cupy", 1.0))
        for row, (what, _) in ROWS.items()
        for dtype in DTYPES
    }
    made |= {f"cuda-{row}": (what, "unisono", PEERS, (None, 3e-6)) for row, what in LOOPS.items()}
    return made | {
        f"cuda-{row}": (what, "unisono", PEERS, (None, 0.3)) for row, what in STARTS.items()
    }


def bytes_of(name):
    """Bytes that a row moves at least; None where that does not say how long it takes."""
    row, _, dtype = name.removeprefix("cuda-").rpartition("-")
    times = ROWS[row][1] if row in ROWS else None
    if times is None:
        return None
    size = np.dtype(dtype).itemsize
    return times * size * (SIDE * SIDE if row == "jacobi" else N * 4 // size)


class Unisono:
    def __init__(self):
        import unisono

        self.module = unisono

    def give(self, x):
        return self.module.asarray(x, device="cuda")

    def run(self, function, *operands):
        self.module.eval(function(*operands))

    def wait(self):
        self.module.synchronize()

    def top(self, x, k):
        return self.module.top_k(x, k)[0]


class Cupy:
    def __init__(self):
        import cupy

        self.module = cupy
        self.give = cupy.asarray

    def run(self, function, *operands):
        function(*operands)

    def wait(self):
        self.module.cuda.Device().synchronize()

    def top(self, x, k):
        return self.module.sort(self.module.partition(x, x.size - k)[x.size - k :])[::-1]


class Jax:
    def __init__(self):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        os.environ.setdefault("JAX_DEFAULT_MATMUL_PRECISION", "highest")
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax, self.module, self.give = jax, jax.numpy, jax.device_put
        self.compiled = {}

    def run(self, function, *operands):
        if function not in self.compiled:
            self.compiled[function] = self.jax.jit(function)
        self.result = self.compiled[function](*operands)

    def wait(self):
        self.jax.block_until_ready(self.result)

    def top(self, x, k):
        return self.jax.lax.top_k(x, k)[0]


PLACES = {"unisono": Unisono, "cupy": Cupy, "jax": Jax}


def neighbours(u):
    return 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def sweep(place, count):
    """A function of a matrix that makes so many sweeps of it."""
    if isinstance(place, Jax):
        step = lambda _, u: u.at[1:-1, 1:-1].set(neighbours(u))  # noqa: E731
        return lambda u: place.jax.lax.fori_loop(0, count, step, u)

    def sweeps(u):
        for _ in range(count):
            u[1:-1, 1:-1] = neighbours(u)
        return u

    return sweeps


def work(place, row, dtype):
    """A function and its operands, of NumPy."""
    m, size = place.module, np.dtype(dtype).itemsize
    n, rng = N * 4 // size, np.random.default_rng(3)

    def vectors(count=1, length=n):
        x = rng.random(length + count, dtype=dtype)
        return [x[k : k + length] for k in range(count)]

    def matrix():
        return [vectors()[0].reshape(-1, COLUMNS)]

    def complexes(shape):
        return [(rng.random(shape) + 1j * rng.random(shape)).astype("c" + str(2 * size))]

    def squares():
        side = SIDE * 4 // size
        return [rng.random((side, side), dtype=dtype) - 0.5 for _ in range(2)]

    def sparse():
        rows = n // NEAR // 2
        near = np.arange(rows)[:, None] + rng.integers(-2000, 2000, (rows, NEAR))
        columns = near.clip(0, rows - 1).astype("int32")
        return [rng.random((rows, NEAR), dtype=dtype), columns, rng.random(rows, dtype=dtype)]

    made = {
        "copy": lambda: (lambda a: a.copy(), vectors()),
        "add": lambda: (lambda a, b: a + b, vectors(2)),
        "fused": lambda: (lambda a, b, c: a * b + c * 2 - a / 3, vectors(3)),
        "functions": lambda: (lambda a, b: m.sin(a) * 2 + m.exp(-b * b), vectors(2)),
        "sum": lambda: (lambda a: a.sum(), vectors()),
        "sum-columns": lambda: (lambda a: a.sum(0), matrix()),
        "sum-rows": lambda: (lambda a: a.sum(1), matrix()),
        "sum-middle": lambda: (lambda a: a.sum(1), [vectors()[0].reshape(64, -1, 1024)]),
        "max-columns": lambda: (lambda a: a.max(0), matrix()),
        "scan": lambda: (lambda a: m.cumsum(a), vectors()),
        "scan-rows": lambda: (lambda a: m.cumsum(a, 1), matrix()),
        "scan-columns": lambda: (lambda a: m.cumsum(a, 0), matrix()),
        "sort": lambda: (lambda a: m.sort(a), vectors(1, n // 2)),
        "argsort": lambda: (lambda a: m.argsort(a), vectors(1, n // 2)),
        "top-100": lambda: (lambda a: place.top(a, 100), vectors(1, n // 2)),
        "select": lambda: (lambda a: a[a < 0.3], vectors()),
        "matmul": lambda: (lambda a, b: a @ b, squares()),
        "fft": lambda: (lambda a: m.fft.fft(a), complexes(1 << 24)),
        "fft2": lambda: (lambda a: m.fft.fft2(a), complexes((4096, 4096))),
        "jacobi": lambda: (sweep(place, SWEEPS), [rng.random((SIDE, SIDE), dtype=dtype)]),
        "gather": lambda: (lambda v, c, x: (v * x[c]).sum(1), sparse()),
        "transpose": lambda: (lambda a: a.T.copy(), matrix()),
    }
    return made[row]()


def timed(function, count=1):
    begin = time.perf_counter()
    for _ in range(count):
        function()
    return (time.perf_counter() - begin) / count


def measure(name, who):
    row = name.removeprefix("cuda-")
    if row == "start":
        return first_result(who)
    place = PLACES[who]()
    if row in LOOPS:
        return loop(place, row)
    row, _, dtype = row.rpartition("-")
    function, operands = work(place, row, dtype)
    given = [place.give(x) for x in operands]

    def several(count):
        for _ in range(count):
            place.run(function, *given)
        place.wait()

    several(1)  # compiles
    count = max(1, min(20, math.ceil(0.02 / timed(lambda: several(1)))))
    best = min(timed(lambda: several(count)) / count for _ in range(5))
    return best / (SWEEPS if row == "jacobi" else 1)


def loop(place, row):
    """Seconds for a statement of a loop."""
    if row == "loop-in-place":
        u, step = place.give(np.random.default_rng(1).random((64, 64))), sweep(place, STATEMENTS)
        return min(timed(lambda: (place.run(step, u), place.wait())) for _ in range(8)) / STATEMENTS
    x = place.give(np.random.default_rng(1).random(4096))

    def statements(x):
        for _ in range(STATEMENTS):
            x = x * 0.5 + 1.0
        return x

    return (
        min(timed(lambda: (place.run(statements, x), place.wait())) for _ in range(8)) / STATEMENTS
    )


def first_result(who):
    """Import, a small fused statement and its value, on a driver that is open."""
    import ctypes

    driver = ctypes.CDLL("libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    for status in (
        driver.cuInit(0),
        driver.cuDeviceGet(ctypes.byref(device), 0),
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device),
    ):
        if status != 0:
            raise RuntimeError(f"no CUDA device: the driver says {status}")
    begin = time.perf_counter()
    place = PLACES[who]()
    float((place.give(np.arange(1e6)) * 2 + 1).sum())
    return time.perf_counter() - begin
