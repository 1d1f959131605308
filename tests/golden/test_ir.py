"""The kernel IR of compiled functions, compared with the texts of ir/.

``UNISONO_UPDATE_GOLDEN=1`` writes the texts anew; read the difference before committing it.
"""

import os
import re
from pathlib import Path

import numpy as np
import pytest
import unisono as un

FOLDER = Path(__file__).parent / "ir"


def laplace(u, u_new):
    dim_y = u.shape[0]
    dim_x = u.shape[1]
    for y in range(1, dim_y - 1):
        for x in range(1, dim_x - 1):
            u_new[y, x] = (u[y + 1, x] + u[y - 1, x] + u[y, x + 1] + u[y, x - 1]) / 4


def laplace_prange(u, u_new):
    for y in un.prange(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            u_new[y, x] = ((u[y - 1, x] + u[y + 1, x]) + (u[y, x - 1] + u[y, x + 1])) / 4


def reductions(a):
    s, low = 0, a[0]
    for i in un.prange(len(a)):
        t = a[i] * 2
        s += t
        low = min(low, t)
    return s, low


def search(a, x):
    found = -1
    for i in range(len(a)):
        if a[i] == x:
            found = i
            break
    return found


def widen(n):
    s = 0
    while n > 0 and s < 100:
        s += n / 2
        n -= 1
    return s


def last_index(n):
    for i in range(3):
        if i == n:
            break
    return i


def python_arithmetic(a, b):
    return a // b, a % b, a / b, a**3, -a >> 2


def narrow(a, out):
    for i in range(-len(a), 0):
        out[i] = a[i] * 2 + 0.5


def complex_step(z, c, out):
    for i in range(len(z)):
        w = z[i] * z[i] + c
        out[i] = w.real
        z[i] = w


def complex_expression(z, w):
    w[:] = z / 2 - w.conj()


@un.jit
def square(x):
    return x * x


def calls(a):
    s = 0.0
    for i in range(len(a)):
        s += square(a[i]) + square(i)
    return s


def tile(a, c):
    part = un.local_array((4, 4), np.float32)
    y, x = un.local_id(0), un.local_id(1)
    part[y, x] = a[un.global_id(0), un.global_id(1)]
    un.barrier()
    c[un.global_id(0), un.global_id(1)] = part[x, y]


F32, F64 = np.zeros((8, 8), np.float32), np.ones((8, 8))
CASES = {
    "laplace": (laplace, (F64, F64.copy())),
    "laplace_overlapping": (laplace, (F64[1:], F64[:-1])),
    "laplace_prange": (laplace_prange, (F32, F32.copy())),
    "reductions": (reductions, (F32[0],)),
    "search": (search, (np.arange(4), 2)),
    "widen": (widen, (3,)),
    "last_index": (last_index, (1,)),
    "python_arithmetic": (python_arithmetic, (7, 2)),
    "narrow": (narrow, (F32[0], F64[:, 0].copy())),
    "calls": (calls, (F64[0],)),
    "complex_step": (complex_step, (F64[0].astype(complex), 1 + 2j, F64[1].copy())),
    "complex_expression": (complex_expression, (F32.astype("F"), F32.astype("F"))),
}


def compare(name, compiled):
    text = re.sub(r"  # line \d+", "", compiled.inspect_ir())
    path = FOLDER / f"{name}.txt"
    if os.environ.get("UNISONO_UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("name", CASES)
def test_function(name):
    function, args = CASES[name]
    compiled = un.jit(function, device="interp")
    compiled(*args)
    compare(name, compiled)


def test_kernel():
    compiled = un.kernel(tile, device="interp")
    compiled[(8, 8), (4, 4)](F32, F32.copy())
    compare("tile", compiled)
