"""Arrays that compiled functions read from around them: each call takes those that are there then."""

import dataclasses
import types

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())

TABLE = np.arange(5.0)
OURS = un.arange(4.0)
HOLDER = types.ModuleType("holder")
HOLDER.grid = np.arange(6).reshape(2, 3).T


def reads(i):
    def inner(k):
        return TABLE[k] + 1

    return TABLE[i] * 2 + OURS.sum() + HOLDER.grid[2, 1], inner(i), HOLDER.grid.shape


def test_reads(on):
    global TABLE
    f = un.jit(reads, device=on)
    before = TABLE
    try:
        assert f(2) == reads(2)
        TABLE[2] = 1.5
        assert f(2) == reads(2)
        for other in (before * 10, np.arange(5), np.arange(20.0)[::4], un.arange(5.0)):
            TABLE = other
            assert f(2) == reads(2)
        TABLE = before[:2]
        with pytest.raises(IndexError):
            f(2)
    finally:
        TABLE = before


def of_closure(local):
    def reads_local(out, k=1):
        for j in un.prange(3):
            out[j] = k * local[j] + TABLE[j]
        return out

    return reads_local


def test_closures(on):
    first, second = of_closure(np.array([1, 2, 3])), of_closure(np.array([4.0, 5, 6]))
    for f in (first, second):
        compiled = un.jit(f, device=on)
        assert np.array_equal(compiled(np.zeros(3), k=3), f(np.zeros(3), k=3))
        assert np.array_equal(compiled(np.zeros(3)), f(np.zeros(3)))
    with pytest.raises(TypeError, match="names no parameter"):
        un.jit(first, device=on)(np.zeros(3), **{"TABLE.global": np.zeros(3)})


def adds(out):
    """Overlaps what it reads, once the array itself is passed."""
    for i in range(1, 5):
        out[i] = TABLE[i - 1] + 1
    return out


def writes(x):
    TABLE[0] = x
    TABLE[1:] += 1


def test_the_array_itself_is_read_and_written(on):
    global TABLE
    before = TABLE
    try:
        made = []
        for run in (un.jit(adds, device=on), adds):
            TABLE = np.arange(5.0) * 7
            made.append(run(TABLE).copy())
        assert np.array_equal(*made)
        made = []
        for run in (un.jit(writes, device=on), writes):
            TABLE = np.arange(5.0)
            run(9.0)
            made.append(TABLE)
        assert np.array_equal(*made)
        TABLE.setflags(write=False)
        with pytest.raises(ValueError, match="read-only"):
            un.jit(writes, device=on)(1.0)
    finally:
        TABLE = before


@un.jit
def looked_up(k):
    return TABLE[k] * 2


def calls(n, TABLE):
    s = 0.0
    for i in range(n):
        s += looked_up(i) + TABLE
    return s, applied(looked_up, 2)


@un.jit
def applied(f, x):
    return f(x)


def shapes():
    return len(TABLE), TABLE.size, TABLE + 1, [t for t in TABLE], TABLE


def test_calls_pass_them_on(on):
    assert un.jit(calls, device=on)(4, 0.5) == calls(4, 0.5)
    for got, want in zip(un.jit(shapes, device=on)(), shapes(), strict=True):
        assert np.array_equal(got, want)


def recursive(n):
    return TABLE[n] if n == 0 else TABLE[n] + recursive(n - 1)


def test_recursion(on):
    global recursive
    python = recursive
    try:
        want = python(4)
        recursive = un.jit(python, device=on)
        assert recursive(4) == want
    finally:
        recursive = python


@dataclasses.dataclass(frozen=True)
class Scaled:
    by: float

    def at(self, i):
        return TABLE[i] * self.by


def of_method(p):
    return p.at(1)


def of_signature(i, scale=1.0):
    return TABLE[i] * scale


def calls_of_signature(i):
    return of_signature(i, 2.0) + TABLE[i]


def test_functions_with_signatures(on, monkeypatch):
    want = [of_signature(2, 0.5), calls_of_signature(2)]
    f = un.jit(["float64(int64, float64)", "float64(int64, int64)"], device=on)(of_signature)
    assert len(f.signatures) == 2
    monkeypatch.setitem(globals(), "of_signature", f)
    g = un.jit("float64(int64)", device=on)(calls_of_signature)
    assert [f(2, 0.5), g(2)] == want
    assert f(2, 3) == 3 * f.py_func(2)
    with pytest.raises(un.CompileError, match="no signature takes"):
        f(2.5, 1.0)
    monkeypatch.setitem(globals(), "TABLE", TABLE + 1)
    assert f(2, 1.0) == f.py_func(2)
    assert len(f.signatures) == 2
    with pytest.raises(TypeError, match="one type per parameter; got 1; expected 2"):
        un.jit("float64(int64)", device=on)(f.py_func)


def test_refusals(on, tmp_path):
    with pytest.raises(un.CompileError, match="TABLE"):
        un.jit(of_method, device=on)(Scaled(2.0))
    reads = un.jit("float64(int64)", device=on)(lambda i: TABLE[i])
    with pytest.raises(TypeError, match="TABLE"):
        un.compile_module("reads", [reads], tmp_path)
    made = un.jit("(int64,)", device=on)(python_inside)
    with pytest.raises(TypeError, match="runs a block"):
        un.compile_module("odd", [made], tmp_path)


def python_inside(n):
    with un.python():
        m: int = n + 1
    return m
