"""NumPy's arrays inside of `with un.device(d)`: copied in, and out where they are written."""

import asyncio
import threading

import numpy as np
import pytest
import unisono as un


@un.jit
def scale(a, b):
    for i in un.prange(a.shape[0]):
        b[i] = a[i] * 2.5


@un.jit
def shifted(a):
    return a * 2 + 1


@un.jit
def total(a):
    return a.sum()


@un.kernel
def increment(a, b):
    i = un.global_id(0)
    if i < a.shape[0]:
        b[i] = a[i] + 1


@un.vectorize
def hypotenuse(x, y):
    return (x * x + y * y) ** 0.5


@un.jit
def triangle(n):
    made = np.zeros((n, n))
    for i in un.prange(n):
        for j in range(i + 1):
            made[i, j] = i * j
    return made


@un.jit
def remainder(a, b):
    return a % b


def copied(f):
    before = un.stats()["bytes_copied"]
    f()
    return un.stats()["bytes_copied"] - before


def test_compiled_functions(device):
    a, b = np.arange(6.0), np.zeros(6)
    scale(a, b)  # its quick call is the host's
    b[:] = 0
    with un.device(device):
        scale(a, b)
        np.testing.assert_array_equal(b, a * 2.5)
        made = shifted(a)
        assert made.device == device
        assert total(a) == a.sum()
    np.testing.assert_array_equal(np.asarray(made), a * 2 + 1)
    b[:] = 0
    scale(a, b)
    np.testing.assert_array_equal(b, a * 2.5)
    assert shifted(a).device == "cpu"


def test_arrays_made_of_numbers_alone(device):
    expected = np.fromfunction(lambda i, j: i * j * (j <= i), (5, 5))
    assert triangle(5).device == "cpu"
    for _ in range(2):
        with un.device(device):
            made = triangle(5)
            assert made.device == device
            assert (made + un.zeros((5, 5))).device == device
            assert remainder(17, 5) == 2
        np.testing.assert_array_equal(np.asarray(made), expected)
        assert triangle(5).device == "cpu"


def test_only_what_is_written_comes_back(device):
    if device == "cpu":
        pytest.skip("nothing is copied on the host")
    a, b = np.arange(1000.0), np.zeros(1000)
    a.flags.writeable = False
    with un.device(device):
        scale(a, b)
        assert copied(lambda: scale(a, b)) == 3 * a.nbytes
    np.testing.assert_array_equal(b, a * 2.5)


def test_kernels(device):
    a, b = np.arange(6.0), np.zeros(6)
    with un.device(device):
        increment[6](a, b)
    np.testing.assert_array_equal(b, a + 1)


def test_functions_of_arrays(device):
    a = np.arange(4.0)
    with un.device(device):
        for made in (
            un.sin(a),
            un.add([1, 2], [3, 4]),
            un.where([True, False], [1, 2], 0),
            hypotenuse(a, a),
        ):
            assert made.device == device
        out = np.zeros(4)
        assert un.add(a, 1, out=out) is out
        np.testing.assert_array_equal(out, a + 1)
    assert un.sin(a).device == "cpu"


def test_arrays_of_ours_stay(device):
    x = un.arange(4.0, device="cpu")
    with un.device(device):
        assert (
            shifted(x).device == "cpu"
            and un.sin(x).device == "cpu"
            and (x + [1, 2, 3, 4]).device == "cpu"
        )


def test_numpys_arrays_beside_arrays_of_a_device(device):
    a, b = np.arange(6.0), np.zeros(6)
    x = un.asarray(a, device=device)
    scale(x, b)
    np.testing.assert_array_equal(b, a * 2.5)
    y = un.zeros(6, device=device)
    scale(a, y)
    np.testing.assert_array_equal(np.asarray(y), a * 2.5)


def test_threads_and_tasks_choose_for_themselves(device):
    a, places = np.arange(6.0), {}

    def elsewhere():
        places["thread"] = shifted(a).device

    async def inside():
        with un.device(device):
            await asyncio.sleep(0)
            places["task"] = shifted(a).device

    async def outside():
        places["other task"] = shifted(a).device

    async def both():
        await asyncio.gather(inside(), outside())

    with un.device(device):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    asyncio.run(both())
    assert places["thread"] == places["other task"] == "cpu" and places["task"] == device
