"""timeit times finished work: results that nobody reads are computed, and each round's before the next."""

import subprocess
import sys
import timeit

import numpy as np
import pytest
import unisono as un

rounds = 6


def work(statement, **names):
    """Flushes per round of a timed statement."""
    un.eval()
    before = un.stats()["flushes"]
    timeit.timeit(statement, "global x", number=rounds, globals={"un": un, **names})
    return (un.stats()["flushes"] - before) / rounds


def made_inside(x):
    y = x * 3
    return y - 1


@pytest.mark.parametrize(
    "statement",
    [
        "x * 2 + 1",
        "un.sin(x)",
        "made_inside(x)",
        "x.sum(axis=0)",
        "-x; x + 1",
        "un.sort(x * 2)",
        "x[1:] - x[:-1]",
    ],
)
def test_results_that_are_dropped(statement):
    x = un.array(np.random.default_rng(0).random((400, 3000)))
    count = statement.count(";") + 1
    assert count <= work(statement, x=x, made_inside=made_inside) <= count + 1


@pytest.mark.parametrize(
    "statement",
    ["x += 1", "x[1:] = x[:-1] * 2", "y = x * 2", "un.add(x, 1, out=x)", "x *= 2; x += 1"],
)
def test_results_that_are_kept(statement):
    x = un.array(np.random.default_rng(0).random((400, 3000)))
    assert (rounds - 1) / rounds <= work(statement, x=x) <= 2


def test_temporaries_are_still_fused():
    x = un.ones(10**6)
    assert work("x * 2 + 1", x=x) == 1


def test_results_are_those_outside():
    x = un.zeros(3000)
    timeit.timeit("x += 1; x * 2", "global x", number=5, globals={"x": x})
    np.testing.assert_array_equal(x, np.full(3000, 5.0))


def test_elsewhere_nothing_changes():
    x = un.ones(10**6)
    un.eval(x)
    before = un.stats()["kernels_launched"]
    for _ in range(3):
        x * 2 + 1
    assert un.stats()["kernels_launched"] == before


def test_the_command_line():
    setup = "import unisono as un; x = un.ones(10**6); n = un.stats()['flushes']"
    statement = "x * 2 + 1; print(un.stats()['flushes'] - n)"
    said = subprocess.run(
        [sys.executable, "-m", "timeit", "-n", "3", "-r", "1", "-s", setup, statement],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.split()[:3] == ["1", "2", "3"]


def test_notebooks():
    """%timeit gives its loop another name."""
    code = compile("for _ in range(3):\n    x * 2 + 1\n", "<magic-timeit>", "exec")
    x = un.ones(10**6)
    un.eval(x)
    before = un.stats()["kernels_launched"]
    exec(code, {"x": x})
    assert un.stats()["kernels_launched"] - before == 3
