"""Ctrl-C inside of one long compiled loop: KeyboardInterrupt at the user's line, the process goes on."""

import subprocess
import sys

import pytest

PROGRAM = """
import signal, sys, threading
import numpy as np
import unisono as un

@un.jit
def one_loop(a, n):
    for i in range(n):
        a[i % 3] += i

@un.jit
def nested(a, n):
    for i in range(n):
        for j in range(100):
            a[j % 3] += i

@un.jit
def spin(a, n):
    while n > 0:
        a[n % 3] += 1
        n += 1

@un.jit
def parallel(a, n):
    s = 0
    for i in un.prange(n):
        s += i // 3 % 7
    return s

@un.jit
def stores(a, n):
    for i in un.prange(n):
        a[i % 3] = i

@un.jit
def statements(a, n):
    for i in range(n):
        a[1:] = a[:-1]

@un.jit
def tasks(a, n):
    with un.parallel(2):
        with un.tasks():
            for k in range(3):
                with un.task():
                    i = n
                    while i > 0:
                        a[k] += 1
                        i += 1

@un.jit
def calls(n):
    return n if n < 2 else calls(n - 1) + calls(n - 2)

@un.jit
def recursion(a, n):
    try:
        a[0] += calls(n if n < 90 else 90)
    except Exception:
        a[1] = 1

@un.jit
def inside_shared(a, n):
    for i in un.prange(3):
        for j in range(n):
            a[i] += j

@un.jit
def helper(a, i, n):
    for j in range(n):
        if a[i] < 0:
            break
        a[i] += j & 1

@un.jit
def one_helper(a, n):
    for i in un.prange(2):
        helper(a, i, n if i == 1 else 1)

@un.jit
def serial_tasks(a, n):
    with un.tasks():
        for k in range(3):
            with un.task():
                for i in range(n):
                    a[k] += i

@un.vectorize
def count_down(x):
    while x > 0:
        x += 1
    return x

def elements(a, n):
    count_down(a[:2] * 0 + n)

@un.jit
def of_extents(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            for k in range(a.shape[0]):
                for m in range(len(a)):
                    a[(i ^ j ^ k ^ m) % 3] += 1

def extents(a, n):  # calls of few steps hold Python's lock, and are not asked
    of_extents(np.zeros(3000, np.int64) if n else a)

a = np.zeros(3, np.int64)
function = globals()[sys.argv[1]]
function(a, 0)
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    function(a, 1 << 50)
except KeyboardInterrupt as error:
    print("interrupted", *error.__notes__)
function(a, 0)
print("alive")
"""


@pytest.mark.parametrize(
    "name",
    """one_loop nested spin parallel stores statements tasks recursion inside_shared one_helper serial_tasks
    elements extents""".split(),
)
def test_interrupt(tmp_path, name):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(path), name], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.strip().splitlines()[0], done.stdout.strip().splitlines()[-1]
    told = {"elements": "count_down", "extents": "of_extents"}.get(name, name)
    assert first.startswith(f"interrupted in compiled function {told}") and last == "alive"
    if name == "stores":  # its run-time part is told the loop's line
        assert "for i in un.prange(n):" in done.stdout
