"""Statements that write into an array which they also read at other points."""

import numpy as np
import pytest
import unisono as un

OPENCL = [d.name for d in un.devices("opencl")]


def host(x):
    return np.asarray(x.to_device("cpu"))


def sweep(u):
    u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])


def grid(*shape):
    return np.random.default_rng(5).random(shape)


STATEMENTS = {
    "inner": sweep,
    "rows": lambda u: u.__setitem__(slice(None, -1), u[1:] * 0.5),
    "reversed": lambda u: u.__setitem__(slice(None), u[::-1] * 0.5),
    "columns": lambda u: u.__setitem__((slice(None), slice(3, None)), u[:, :-3] - 1),
    "every second row": lambda u: u.__setitem__(slice(None, -1, 2), u[1::2] + u[:-1:2]),
    "every second column": lambda u: u.__setitem__(
        (slice(1, None), slice(1, None, 2)), u[:-1, ::2] + 1
    ),
    "backwards": lambda u: u.__setitem__((slice(-2, None, -1), slice(1, None)), u[1:, :-1] + 1),
    "one row": lambda u: u.__setitem__(3, u[4] + u[2]),
    "turned": lambda u: u.T.__setitem__(slice(1, None), u.T[:-1] * 2),
}


# Small ones are copied back; of large ones the rest is copied.
@pytest.mark.parametrize("shape", [(6, 8), (600, 700)], ids=str)
@pytest.mark.parametrize("name", STATEMENTS)
def test_values(device, name, shape):
    a = grid(*shape)
    u = un.asarray(a, device=device)
    part, turned = u[1::2, 2:], u.T
    for _ in range(3):
        for x in (a, u):
            STATEMENTS[name](x)
            x[:2] += 1
    for ours, want in ((u, a), (part, a[1::2, 2:]), (turned, a.T)):
        np.testing.assert_array_equal(host(ours), want)


def test_three_axes_and_two_arrays(device):
    a, b = grid(20, 70, 80), grid(20, 70, 80)
    u, v = un.asarray(a, device=device), un.asarray(b, device=device)
    for _ in range(3):
        for x, y in ((a, b), (u, v)):
            inner = (slice(1, -1),) * 3
            right = (slice(1, -1), slice(1, -1), slice(2, None))
            y[inner] = x[right] - y[right]
            x[inner] = y[right] * 0.5 + x[right]
    np.testing.assert_array_equal(host(u), a)
    np.testing.assert_array_equal(host(v), b)


def test_red_and_black(device):
    a = grid(300, 1000)
    u = un.asarray(a, device=device)
    for _ in range(2):
        for x in (a, u):
            x[1:-1, 1:-1:2] = x[1:-1, 2::2] + x[1:-1, :-2:2]
            x[1:-1, 2:-1:2] = x[1:-1, 3::2] + x[1:-1, 1:-2:2]
    np.testing.assert_array_equal(host(u), a)


@pytest.mark.parametrize("name", OPENCL)
def test_large_arrays_move_once(name):
    """A sweep writes the array once, and beside it the border."""
    sweeps, n = 5, 600
    u = un.asarray(grid(n, n), device=name)
    sweep(u)
    un.eval(u)
    before = un.stats()
    for _ in range(sweeps):
        sweep(u)
    un.eval(u)
    after = un.stats()
    written = (after["bytes_written"] - before["bytes_written"]) / sweeps
    assert 8 * (n - 2) ** 2 <= written <= 8 * n**2 * 1.2
    assert (after["kernels_launched"] - before["kernels_launched"]) / sweeps <= 4


@pytest.mark.parametrize("name", OPENCL)
def test_memory_known_outside_stays(name):
    """Others were given the memory: the array keeps it."""
    a = grid(600, 700)
    u = un.asarray(a, device=name)
    other = un.from_dlpack(u)
    for x in (a, u):
        sweep(x)
    un.eval(u)
    np.testing.assert_array_equal(host(other), a)
    shared = un.empty((600, 700), memory="shared", device=name)
    shared[...] = u
    for x in (a, shared):
        sweep(x)
    np.testing.assert_array_equal(np.asarray(shared), a)


@pytest.mark.parametrize("name", OPENCL)
def test_queues_see_the_memory_in_turn(name):
    one, two = un.Queue(name), un.Queue(name, order="out")
    a = grid(600, 700)
    u = un.asarray(a, device=name)
    sums = []
    for k in range(6):
        with un.device(queue=(one, two)[k % 2]):
            sweep(u)
        with un.device(queue=(one, two)[(k + 1) % 2]):
            sums.append(u * 2)
        sweep(a)
        sums.append(a * 2)
    for ours, want in zip(sums[::2], sums[1::2], strict=True):
        np.testing.assert_array_equal(host(ours), want)
    np.testing.assert_array_equal(host(u), a)
