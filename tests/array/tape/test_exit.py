"""Threads that still compute when the interpreter ends: the process ends as it does with Python's threads alone."""

import subprocess
import sys

import pytest

bodies = {
    "statements": "float((un.ones(200000) * 2).sum())",
    "compiled loops": "loop(x)",
    "matmul": "m @ m",
    "functions in Python": "un.std(y), un.percentile(y, 30), y.reshape(5, 10).std(axis=0), un.add(y, 1, where=y > 0)",
    "functions that call Python": "un.apply_along_axis(lambda row: row.sum(), 0, un.ones((3, 3))), un.frompyfunc(abs, 1, 1)(y)",
    "compiled functions that Python code of C code calls": "np.apply_along_axis(lambda row: f(row).sum(), 0, n[:900].reshape(30, 30))",
    "NumPy's arrays": "np.asarray(un.asarray(n) + 1).sum()",
}
program = """
import threading, time
import numpy as np
import unisono as un

@un.vectorize
def f(x):
    return x * 2 + 1

@un.njit
def loop(x):
    s = 0.0
    for i in range(x.size):
        s += x[i]
    return s

x, y, m, n = un.ones(100000), un.ones(50), un.ones((200, 200)), np.ones(100000)
started = threading.Semaphore(0)

def work():
    while True:
        {body}
        started.release()

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
for _ in range(6):
    started.acquire()
"""


@pytest.mark.slow
@pytest.mark.parametrize("body", bodies.values(), ids=bodies)
def test_threads_that_go_on_at_exit(body):
    for _ in range(4):
        ended = subprocess.run(
            [sys.executable, "-c", program.format(body=body)], capture_output=True, text=True
        )
        assert (ended.returncode, ended.stderr) == (0, "")
