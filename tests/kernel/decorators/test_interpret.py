"""``jit(interpret=True)``: the Python function itself with watched arrays."""

import io
import os
import pdb
import subprocess
import sys

import numpy as np
import pytest
import unisono as un


@un.jit(interpret=True)
def scale(a, factor):
    for i in un.prange(len(a)):
        b = a[i] * factor
        a[i] = b
    return a


@un.jit(interpret=True)
def shifted(a):
    for i in un.prange(1, len(a)):
        a[i] = a[i - 1] + 1


@un.jit(interpret=True)
def gathered(a, where):
    for i in un.prange(len(where)):
        a[where[i]] = i


@un.jit(interpret=True)
def counted(keys, counts):
    for i in un.prange(len(keys)):
        counts[keys[i]] += 1


@un.jit(interpret=True)
def rows(a):
    for y in un.prange(a.shape[0]):
        row = a[y]
        for x in un.prange(1, a.shape[1]):
            row[x] = row[x - 1] + 1
        a[y, :] *= 2


def test_runs_and_gives_back_what_it_was_given():
    a = np.arange(4.0)
    assert scale(a, 2.0) is a
    assert a.tolist() == [0.0, 2.0, 4.0, 6.0]
    u = un.arange(4.0)
    assert scale(u, 3.0) is u
    assert u.tolist() == [0.0, 3.0, 6.0, 9.0]


def test_iterations_that_meet_raise():
    with pytest.raises(
        ValueError, match=r"meet at an element of 'a'.*written at line \d+ by iteration 1"
    ):
        shifted(np.zeros(4))
    gathered(np.zeros(4), np.array([2, 0, 1]))
    with pytest.raises(ValueError, match="iteration 0 and written .* by iteration 2"):
        gathered(np.zeros(4), np.array([2, 0, 2]))


def test_overlapping_arguments_meet():
    @un.jit(interpret=True)
    def copy(a, b):
        for i in un.prange(len(a)):
            b[i] = a[i]

    base = np.arange(6.0)
    copy(base[:5], np.zeros(5))
    with pytest.raises(ValueError, match="meet at an element of 'a'"):
        copy(base[:5], base[1:])


def test_reductions_atomics_and_inner_loops_do_not_meet():
    counts = np.zeros(3, np.int64)
    counted(np.array([0, 2, 2, 1]), counts)
    assert counts.tolist() == [1, 1, 2]

    @un.jit(interpret=True)
    def atomics(keys, counts):
        for i in un.prange(len(keys)):
            un.atomic.add(counts, keys[i], 1)

    atomics(np.array([0, 2, 2]), counts)
    assert counts.tolist() == [2, 1, 4]
    a = np.zeros((2, 3))
    rows(a)
    assert a.tolist() == [[0.0, 2.0, 4.0]] * 2


def test_indices_are_checked():
    @un.jit(interpret=True)
    def beyond(a):
        return a[len(a)]

    with pytest.raises(IndexError):
        beyond(np.zeros(3))


def test_array_operations_count_as_accesses():
    @un.jit(interpret=True)
    def whole(a):
        for i in un.prange(len(a)):
            a[i] = np.sum(a)

    with pytest.raises(ValueError, match="meet at an element of 'a'"):
        whole(np.ones(3))


def test_pdb_steps_through_it():
    commands = io.StringIO("next\nnext\nnext\np float(i + 40 + b)\ncontinue\n")
    out = io.StringIO()
    debugger = pdb.Pdb(stdin=commands, stdout=out, readrc=False)
    debugger.use_rawinput = False
    debugger.prompt = ""
    a = np.arange(3.0)
    debugger.runcall(scale.py_func, a, 2.0)
    assert a.tolist() == [0.0, 2.0, 4.0]
    assert "b = a[i] * factor" in out.getvalue() and "40.0" in out.getvalue()


def test_other_keywords_are_still_checked():
    with pytest.raises(TypeError, match="unknown keyword 'speed'"):
        un.jit(interpret=True, speed=3)
    assert un.jit(scale.py_func, interpret=False)(np.ones(2), 2.0).tolist() == [2.0, 2.0]


DISABLED = """
import numpy as np
import unisono as un

@un.jit("float64(float64)")
def f(x):
    assert type(x) is int
    return x + 1

@un.vectorize(["float64(float64)"])
def v(x):
    return x + 1

@un.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def g(a, b):
    for i in range(len(a)):
        b[i] = a[i] * 2

@un.stencil
def s(a):
    return a[-1] + a[1]

@un.cfunc("float64(float64)")
def c(x):
    return x * 2

x = np.arange(4.0)
print(f(1), v(x).tolist(), g(x).tolist(), s(x).tolist(), c.ctypes(3.0))
"""


def test_compilation_can_be_switched_off(tmp_path):
    """Functions of jit are Python's own then; what has no other form is compiled all the same."""
    file = tmp_path / "program.py"
    file.write_text(DISABLED)
    environment = {**os.environ, "UNISONO_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("2 [1.0, 2.0, 3.0, 4.0] [0.0, 2.0, 4.0, 6.0] [0.0, 2.0, 4.0, 0.0] 6.0\n")
