"""Square roots of what is never negative need no test; all others raise where they did."""

import math
import platform

import numpy as np
import pytest
import unisono as un

RNG = np.random.default_rng(3)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e200, -1e-200])


def distances(x, y, out):
    for i in range(len(x)):
        dx = x[i] - y[i]
        out[i] = math.sqrt(dx * dx + y[i] ** 2)


def norms(x, y, out):
    for i in range(len(x)):
        s = 0.0
        for j in range(3):
            s += (x[i] - j) * (x[i] - j) + abs(y[i])
        out[i] = math.sqrt(s)


def quotient(x, y, out):
    for i in range(len(x)):
        out[i] = math.sqrt(x[i] * x[i] / (abs(y[i]) + 0.5))


@pytest.mark.parametrize("function", [distances, norms, quotient])
def test_results(function):
    for x, y in [
        (RNG.normal(size=200), RNG.normal(size=200)),
        (np.repeat(SPECIAL, 9), np.tile(SPECIAL, 9)),
    ]:
        out, wanted = np.zeros(len(x)), np.zeros(len(x))
        un.jit(function)(x, y, out)
        with np.errstate(all="ignore"):
            function(x, y, wanted)
        np.testing.assert_array_equal(out, wanted)


def circle(x, y, out):
    for i in range(len(x)):
        out[i] = math.sqrt(1.0 - x[i] * x[i])


def by_negative_zero(x, y, out):
    for i in range(len(x)):
        out[i] = math.sqrt(y[i] / x[i])


def sinks(x, y, out):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
        if y[i] < 0.0:
            s = y[i]
        out[i] = math.sqrt(s)


@pytest.mark.parametrize("function", [circle, by_negative_zero, sinks])
@pytest.mark.parametrize("at", [0, 5, 70])
def test_others_raise_behind_the_stores_before_them(function, at):
    x, y = np.full(71, 0.5), np.full(71, 1.0)
    x[at] = -0.0 if function is by_negative_zero else 1.5
    y[at] = 1e308 if function is by_negative_zero else -1.0
    out = np.full(71, 7.0)
    with pytest.raises(ValueError, match="math domain error"):
        un.jit(function)(x, y, out)
    assert np.all(out[:at] != 7.0) and np.all(out[at:] == 7.0)


def test_the_loop_is_made_of_vectors():
    f = un.jit(distances)
    f(np.ones(9), np.ones(9), np.ones(9))
    if platform.machine() == "x86_64":
        assert "sqrtpd" in "\n".join(f.inspect_asm().values())
