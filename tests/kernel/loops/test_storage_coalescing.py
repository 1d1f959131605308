"""Arrays between statements share their memory where one is gone before the next is made."""

import numpy as np
import pytest
import unisono as un


def shifts(x, y):
    total = 0.0
    x[1:] = x[:-1] * 0.5 + 1
    y[:-1] = y[1:] + x[1:]
    x[1:] = x[:-1] * 0.25 + y[0]
    y[2:] = y[:-2] - x[2:]
    return total


def loops(x, y):
    total = 0.0
    for i in range(3):
        doubled = x * 2.0
        x[1:] = x[:-1] * 0.5 + 1
        y[:-1] = y[1:] + doubled[1:]
        for j in range(2):
            total += doubled[j]
            x[1:] = x[:-1] * 0.25 + total
            both = x + y
            total += both[1] + doubled[2]
        while total > 100.0 * i + doubled[1]:
            y[1:] = y[:-1] * 0.5
            total = total / 2 - 1 + doubled[0]
    return total


def sums(x, y):
    """What is made in front of the loop is read in each iteration, behind arrays made inside."""
    total = 0.0
    before = x[1:] * y[1:]
    for i in range(3):
        total += (before[i] + before.sum()) / (i + 1)
        x[1:] = x[:-1] + before
        y[:] = np.cumsum(x)
    return total


def parallel(x, y):
    for i in un.prange(3):
        row = y[i : i + 3] * 2.0
        x[i * 3 : i * 3 + 3] = row[::-1] + i
    x[1:] = x[:-1] * 0.5
    return x[1]


@pytest.mark.parametrize("function", [shifts, loops, sums, parallel])
@pytest.mark.parametrize("size", [9, 12])
def test_results_are_numpys(function, size):
    x, y = np.linspace(0, 1, size), np.linspace(1, 3, size)
    a, b = x.copy(), y.copy()
    assert un.jit(function)(x, y) == function(a, b)
    assert x.tolist() == a.tolist()
    assert y.tolist() == b.tolist()


@pytest.mark.parametrize("size", range(8))
def test_views_a_few_elements_apart(size):
    def moves(x):
        x[1:] = x[:-1] * 2 + 1
        x[:-3] = x[3:] - x[:-3]
        x[5:] = x[:-5] + 1

    x = np.linspace(0, 1, size)
    a = x.copy()
    un.jit(moves)(x)
    moves(a)
    assert x.tolist() == a.tolist()


def test_few_arrays_are_let_go_at_the_end(tmp_path):
    count = 12
    path = tmp_path / "shifting.py"
    path.write_text("def shift(x):\n" + "    x[1:] = x[:-1] * 0.5 + 1\n" * count)
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    shift = un.jit(names["shift"])
    shift(np.ones(5))
    text = shift.inspect_llvm()
    assert text.count("call void @unisono_block_release") <= count + 1
