"""Names of kernels that stand for one of several arrays."""

import numpy as np
import pytest
import unisono as un
from unisono import cuda


@cuda.jit
def heat(buf_0, buf_1, timesteps, k):
    # The heat equation of Numba's user guide.
    i = cuda.grid(1)
    if i >= len(buf_0):
        return
    grid = cuda.cg.this_grid()
    for step in range(timesteps):
        if (step % 2) == 0:
            data = buf_0
            next_data = buf_1
        else:
            data = buf_1
            next_data = buf_0
        curr_temp = data[i]
        if i == 0:
            next_temp = curr_temp + k * (data[i + 1] - curr_temp)
        elif i == len(data) - 1:
            next_temp = curr_temp + k * (data[i - 1] - curr_temp)
        else:
            next_temp = curr_temp + k * (data[i - 1] - 2 * curr_temp + data[i + 1])
        next_data[i] = next_temp
        grid.sync()


@cuda.jit
def one_of_three(a, b, c, which, out):
    i = cuda.grid(1)
    if which[i] == 0:
        x = a
    elif which[i] == 1:
        x = b
    else:
        x = c
    y, z = (a, b) if i % 2 else (b, a)
    out[i] = 100 * x[i] + y[i] - z[i]


@cuda.jit
def behind_a_loop(a, b, out):
    for k in range(2):
        if k:
            x = a
        else:
            x = b
        out[k] = x[k]
    out[2] = x[0]


def test_buffers_that_steps_exchange(device):
    n, steps, k = 101, 20, 0.25
    expected = np.zeros(n)
    expected[n // 2] = 10000
    data = un.array(expected, device=device)
    for _ in range(steps):
        around = np.concatenate([expected[:1], expected, expected[-1:]])
        expected = expected + k * (around[:-2] - 2 * expected + around[2:])
    heat[1, 128](data, un.zeros(n, device=device), steps, k)
    np.testing.assert_allclose(np.asarray(data), expected)


def test_choices_by_elements(device):
    a, b, c = (un.array(10**k * np.arange(1, 7), device=device) for k in range(3))
    out = un.zeros(6, "i8", device=device)
    one_of_three[2, 3](a, b, c, un.array([0, 1, 2, 2, 1, 0], device=device), out)
    x = [1, 20, 300, 400, 50, 6]
    differences = [(-1) ** k * 9 * (k + 1) for k in range(6)]
    assert out.tolist() == [100 * p + q for p, q in zip(x, differences, strict=True)]


def test_choices_that_loops_keep_are_refused():
    with pytest.raises(un.CompileError, match="'x' stands for different arrays"):
        behind_a_loop[1, 1](np.ones(3), np.ones(3), np.zeros(3))
