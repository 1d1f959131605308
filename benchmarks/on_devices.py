"""Primitives on an OpenCL device, beside the same call on the host."""

import time

import numpy as np

N = 10**7


def measure(name, who):
    import unisono as un

    device = "opencl" if who == "unisono" else "cpu"
    rng = np.random.default_rng(3)

    def there(x):
        return un.asarray(x, device=device)

    work = {
        "sort": lambda: (un.sort, there(rng.random(N))),
        "scan": lambda: (un.cumsum, there(rng.random(N))),
        "histogram": lambda: (lambda x: un.histogram(x, 100)[0], there(rng.random(N))),
        "compaction": lambda: (lambda x, m: x[m], there(rng.random(N)), there(rng.random(N) < 0.3)),
        "unique": lambda: (un.unique, there(rng.random(N))),
        "argsort": lambda: (un.argsort, there(rng.random(N))),
        "median": lambda: (un.median, there(rng.random(N))),
        "partition": lambda: (lambda x: un.partition(x, N // 3), there(rng.random(N))),
        "sum-rows": lambda: (lambda x: x.sum(axis=1), there(rng.random((1000, N // 1000)))),
        "sum-columns": lambda: (lambda x: x.sum(axis=0), there(rng.random((1000, N // 1000)))),
        "argmax": lambda: (un.argmax, there(rng.random(N))),
        "bincount": lambda: (un.bincount, there(rng.integers(0, 100, N))),
        "unique-integers": lambda: (un.unique, there(rng.integers(0, 1000, N))),
        "take": lambda: (un.take, there(rng.random(N)), there(rng.integers(0, N, N))),
        "fft": lambda: (un.fft.fft, there(rng.random(N) + 1j * rng.random(N))),
        "matmul": lambda: (
            un.matmul,
            there(rng.random((1024, 1024))),
            there(rng.random((1024, 1024))),
        ),
    }
    function, *operands = work[name.removeprefix("device-")]()

    def once():
        begin = time.perf_counter()
        un.eval(function(*operands))
        un.synchronize()
        return time.perf_counter() - begin

    once()  # compiles
    return min(once() for _ in range(4))
