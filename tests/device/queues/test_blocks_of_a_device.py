"""Blocks of `with un.device(...)` by thread and task, and NumPy's arrays in them."""

import asyncio
import threading

import numpy as np
import pytest
import unisono as un

OPENCL = [d.name for d in un.devices("opencl")]

pytestmark = pytest.mark.skipif(not OPENCL, reason="no OpenCL device")
N = 1000


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.fixture(params=OPENCL)
def name(request):
    return request.param


def test_outputs_of_numpy_are_written(name, rng):
    a, out = rng.random(N), np.zeros(N)
    with un.device(name):
        assert un.add(a, 1, out=out) is out
        np.testing.assert_array_equal(out, a + 1)


def test_threads_do_not_mix(name):
    problems = []
    barrier = threading.Barrier(4)

    def work(k):
        place = name if k % 2 else "cpu"
        try:
            for _ in range(20):
                barrier.wait()
                a = np.full(N, float(k))
                with un.device(place):
                    barrier.wait()
                    z = un.ones(3) + 1
                    w = un.sqrt(un.asarray(a))
                    assert (z.device, w.device) == (place, place), (k, z.device, w.device)
                    barrier.wait()
                assert un.ones(3).device == "cpu"
                assert float(w[0]) == np.sqrt(k)
        except Exception as error:
            problems.append(error)
            barrier.abort()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not problems, problems


def test_tasks_do_not_mix(name):
    async def work(place, turn, other):
        for _ in range(20):
            with un.device(place):
                turn.set()
                await other.wait()
                other.clear()
                assert un.ones(3).device == place
            assert un.ones(3).device == "cpu"
        turn.set()

    async def both():
        a, b = asyncio.Event(), asyncio.Event()
        await asyncio.gather(work(name, a, b), work("cpu", b, a))

    asyncio.run(both())
