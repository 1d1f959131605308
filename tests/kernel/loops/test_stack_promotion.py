"""Small temporaries of constant size, whose memory may lie on the stack, against Python."""

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())

x = np.linspace(-2, 2, 13)


def density(x):
    points = np.array([-1.0, 2.0, 5.0])
    total = 0.0
    for i in range(x.shape[0]):
        d = -((x[i] - points) ** 2) / 0.5
        m = np.min(d)
        total += m + np.log(np.sum(np.exp(d - m)))
    return total


def of_the_iteration_before(x):
    s = 0.0
    d = np.zeros(3)
    for i in range(x.shape[0]):
        if i > 0:
            s += d[i % 3]
        d = np.array([x[i], 2 * x[i], 3 * x[i]])
    return s


def halved(x):
    d = np.array([1.0, 2.0, 4.0, 8.0])
    for i in range(x.shape[0]):
        d = d * 0.5 + x[i]
    return d


def swapped(x):
    u, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    for i in range(x.shape[0]):
        t = u * x[i] + v
        u, v = v, t
    return u[0] + 10 * v[1]


def kept(x):
    rows = []
    for i in range(x.shape[0]):
        rows.append(np.array([x[i], x[i] ** 2]))
    s = 0.0
    for k in range(len(rows)):
        s += rows[k][0] * (k + 1) - rows[k][1]
    return s


def given_back(x):
    for i in range(x.shape[0]):
        d = np.array([x[i], i, 2.0 * i])
        if d[0] > 0.5:
            return d
    return np.zeros(3)


def rotated(x):
    point = np.array([1.0, 0.0])
    for i in range(x.shape[0]):
        c, s = np.cos(x[i]), np.sin(x[i])
        turn = np.zeros((2, 2))
        turn[0, 0] = c
        turn[0, 1] = -s
        turn[1, 0] = s
        turn[1, 1] = c
        moved = np.zeros(2)
        for j in range(2):
            for k in range(2):
                moved[j] += turn[j, k] * point[k]
        point = moved
    return point


def views(x):
    s = 0.0
    for i in range(x.shape[0]):
        d = np.array([x[i], 1.0, 2.0, 3.0])
        back, odd = d[::-1], d[1::2]
        d[3] = 7.0
        s += back[0] * odd[1] - np.sum(back[1:])
    return s


def until_small(x):
    d = np.array([x[0], x[1], x[2]])
    steps = 0
    while np.max(np.abs(d)) > 1e-3:
        d = np.array([d[1] / 2, d[2] / 2, d[0] / 2])
        steps += 1
    return steps


def caught(x):
    s = 0.0
    for i in range(x.shape[0]):
        try:
            d = np.array([x[i], 1.0 / i])
            s += d[1]
        except ZeroDivisionError:
            s += 100.0
    return s


def shared_out(x):
    out = np.zeros(x.shape[0])
    for i in un.prange(x.shape[0]):
        d = np.array([x[i], x[i] * 2, x[i] * 3])
        e = d * d
        out[i] = e[0] + e[1] - d[2]
    return out


def second_moment(d):
    return np.sum(d * d)


def passed(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += second_moment_of(np.array([x[i], 1.0, -1.0]))
    return s


def many(x):
    s = 0.0
    for i in range(x.shape[0]):
        d = np.ones(60) * x[i]
        e = np.ones(70) * x[i]
        s += d[59] + e[69] + np.sum(d[:3]) + np.sum(d) - np.min(e)
    return s


second_moment_of = un.njit(second_moment)

functions = [
    density,
    of_the_iteration_before,
    halved,
    swapped,
    kept,
    given_back,
    rotated,
    views,
    until_small,
    caught,
    shared_out,
    passed,
    many,
]


@pytest.mark.parametrize("f", functions)
def test_as_in_python(on, f):
    np.testing.assert_allclose(un.jit(f, device=on)(x), f(x), rtol=1e-14)


def test_temporaries_take_no_memory(on):
    f = un.jit(density, device=on)
    f(x)
    before = un.stats()["bytes_allocated"]
    f(x)
    if on == "cpu":
        assert un.stats()["bytes_allocated"] == before


@pytest.mark.parametrize("n", range(9))
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_few_elements_have_the_bits_of_the_array_functions(on, n, dtype):
    values = (np.random.default_rng(n).standard_normal(n) * 100).astype(dtype)
    values[1:2] = -0.0

    @un.jit(device=on)
    def sums(a):
        return np.sum(a), np.prod(a), np.sum(np.exp(a * 0.001))

    a = un.asarray(values)
    want = un.sum(a), un.prod(a), un.sum(un.exp(a * 0.001))
    for got, whole in zip(sums(a), want, strict=True):
        assert (
            np.asarray(got).tobytes() == np.asarray(whole).astype(np.asarray(got).dtype).tobytes()
        )
    if n:

        @un.jit(device=on)
        def extremes(a):
            return np.min(a), np.max(a)

        assert extremes(a) == (values.min(), values.max())
