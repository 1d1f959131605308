"""Sizes and depths beyond the machine's: an exception, whatever the program asks for."""

import subprocess
import sys

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

on_each = pytest.mark.parametrize("on", host_devices())


@on_each
@pytest.mark.parametrize(
    "shape", [(2**40, 2**40), (2**62, 8), (2**31, 2**33), (2**63 - 1, 2), (3, 2**62, 2**62)]
)
def test_sizes_that_overflow(on, shape):
    @un.jit(device=on)
    def filled(shape):
        a = np.zeros(shape)
        a[0] = 1
        return a

    with pytest.raises(MemoryError):
        filled(shape)
    with pytest.raises((MemoryError, ValueError)):
        np.zeros(shape)
    assert filled((2,) * len(shape)).sum() == 2 ** (len(shape) - 1)


@on_each
def test_shapes_that_overflow(on):
    @un.jit(device=on)
    def reshaped(a, n, m):
        return a.reshape(n, m)

    for a, n, m in [(np.ones(0), 2**32, 2**32), (np.ones(6), -2, -3), (np.ones(0), 0, -5)]:
        with pytest.raises(ValueError, match="cannot reshape"):
            reshaped(a, n, m)
        with pytest.raises(ValueError):
            a.reshape(n, m)
    assert reshaped(np.ones(6), 2, 3).shape == (2, 3)


@on_each
def test_lists_that_overflow(on):
    @un.jit(device=on)
    def repeated(n):
        xs = [1, 2, 3, 4] * n
        return len(xs)

    @un.jit(device=on)
    def repeated_in_place(n):
        xs = [1, 2, 3, 4]
        xs *= n
        return len(xs)

    for f in (repeated, repeated_in_place):
        with pytest.raises(MemoryError):
            f(2**62)
        assert [f(3), f(0), f(-1)] == [12, 0, 0]


_RECURSION = """
import threading
import numpy as np, unisono as un

@un.jit
def wide(a, n, x0, x1, x2, x3):
    if n == 0:
        return a.sum() + x0
    b = a + 1.0
    s = 0.0
    for i in range(len(b)):
        s += b[i] * x1 + x2
    r = wide(b, n - 1, x1, x2, x3, s)
    for i in range(len(b)):
        r += b[i] * x0 + a[i]
    return r + x0 * x1 + x2 * x3

def deep(found):
    try:
        wide(np.ones(3), 10**9, 1.0, 2.0, 3.0, 4.0)
    except RecursionError as error:
        found.append(str(error).split(chr(10))[0])

wide(np.ones(3), 3, 1.0, 2.0, 3.0, 4.0)
for size in (0, 1 << 18, 1 << 20):
    threading.stack_size(size)
    found = []
    thread = threading.Thread(target=deep, args=(found,))
    thread.start()
    thread.join()
    print(size, found)
"""


def test_recursion_on_small_stacks(tmp_path):
    """In a process of its own, which would end where the stack does."""
    file = tmp_path / "deep.py"
    file.write_text(_RECURSION)
    run = subprocess.run([sys.executable, file], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("maximum recursion depth exceeded") == 3
