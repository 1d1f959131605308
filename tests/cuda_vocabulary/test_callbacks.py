"""Functions that streams call, and coroutines that wait for them, with Numba's and CuPy's names."""

import asyncio

import numpy as np
import pytest
import unisono.cupy as cp
from unisono import cuda


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def test_callbacks_come_behind_the_work(chosen):
    stream, seen = cuda.stream(), []
    x = cuda.to_device(np.arange(100.0))

    def note(given, status, arg):
        seen.append((given is stream, status, arg, x.copy_to_host()[3]))

    double[1, 128, stream](x)
    stream.add_callback(note, "first")
    stream.synchronize()
    stream.add_callback(note)
    stream.launch_host_func(seen.append, 5)
    stream.synchronize()
    assert seen[0] == (True, 0, "first", 6.0)
    assert sorted(seen[1:], key=str) == sorted([(True, 0, None, 6.0), 5], key=str)
    with pytest.raises(TypeError):
        cuda.stream().add_callback()


def test_callbacks_of_cupys_streams(chosen):
    seen = []
    with cp.cuda.Stream() as stream:
        x = cp.arange(4) * 2
        stream.launch_host_func(seen.append, "host")
        stream.add_callback(lambda s, status, arg: seen.append((s is stream, status, arg)), 1)
    stream.synchronize()
    assert set(seen) == {"host", (True, 0, 1)} and int(x[3]) == 6


def test_coroutines_wait_for_streams(chosen):
    async def run(k):
        stream = cuda.stream()
        x = cuda.to_device(np.full(10, float(k)))
        double[1, 16, stream](x)
        assert await stream.async_done() is stream
        return x.copy_to_host()[0]

    async def all_of_them():
        return await asyncio.gather(*map(run, range(4)))

    assert asyncio.run(all_of_them()) == [0, 2, 4, 6]
