"""Statements that read and store an array anew have two memories for it; those on small arrays are one launch."""

import driver_of_tests
import numpy as np
import pytest
import unisono as un

driver = driver_of_tests.find()
NAMES = [d.name for d in un.devices("cuda")]
QUEUES = []  # one that once found no graphs is not given to another test
pytestmark = pytest.mark.skipif(not NAMES, reason="no CUDA device")
SHAPES = [(10, 12), (62, 3), (7, 300), (40, 1100)]  # the last one is more than a work-group takes


def field(shape, seed=1):
    return np.random.default_rng(seed).random(shape)


def relax(u):
    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def same(program, *arrays):
    """The bits of every array, after several runs, in which the memories change places."""
    ours = [un.asarray(x, device=NAMES[0]) for x in arrays]
    for _ in range(3):
        program(*arrays)
        program(*ours)
    for a, b in zip(arrays, ours, strict=True):
        assert np.asarray(b.to_device("cpu")).tobytes() == a.tobytes()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sweeps", [1, 2, 3, 40, 301])
def test_sweeps(shape, sweeps):
    def program(u):
        for _ in range(sweeps):
            relax(u)

    same(program, field(shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_boundaries_between_sweeps(shape):
    def program(u):
        for k in range(7):
            relax(u)
            u[0] = u[-2]
            u[-1] = u[1]
            u[:, 0] = k + 0.5

    same(program, field(shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_several_arrays(shape):
    def program(u, v, w):
        for _ in range(5):
            relax(u)
            v[1:] += 0.5 * (u[1:] - u[:-1])
            v[:, 1:-1] = v[:, 2:] - v[:, :-2] * 0.5
            w -= v * u

    same(program, field(shape), field(shape, 2), field(shape, 3))


def test_one_axis_and_three():
    def line(u):
        for _ in range(20):
            u[1:-1] = 0.5 * (u[2:] + u[:-2])

    def block(u):
        for _ in range(9):
            u[1:-1, 1:-1, 1:-1] = 0.5 * (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, :-2])

    same(line, field(1000))
    same(line, field((30, 4)))
    same(block, field((6, 7, 40)))


def test_views_and_copies_keep_their_values():
    def program(u, v):
        window = u[2:5]
        before = u + 0
        for _ in range(4):
            relax(u)
        v[2:5] = window
        v[0] = before[0] + before[1]

    same(program, field((10, 12)), field((10, 12), 2))


@pytest.mark.skipif(driver is None, reason="not the CUDA driver of tests")
@pytest.mark.parametrize(("shape", "most"), [((10, 12), 0.1), ((70, 2100), 1.6)])
def test_launches_of_a_statement(shape, most):
    """Of large arrays a kernel each, and what lies around the points once for several statements."""
    statements = 64
    u = un.asarray(field(shape), device=NAMES[0])
    driver.set("graphs", False)
    try:
        QUEUES.append(un.Queue(NAMES[0]))
        for _ in range(3):
            before = driver.count("cuLaunchKernel")
            with un.device(NAMES[0], queue=QUEUES[-1]):
                for _ in range(statements):
                    relax(u)
                un.eval(u)
            un.synchronize()
            given = driver.count("cuLaunchKernel") - before
    finally:
        driver.set("graphs", True)
    assert given <= most * statements


def test_explanations():
    u = un.asarray(field((40, 1100)), device=NAMES[0])
    un.synchronize()
    for _ in range(3):
        relax(u)
    text = un.explain(u)
    assert "may have a second memory for the array" in text
    assert "bands of rows" not in text
