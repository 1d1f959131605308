"""Work shared out over several devices."""

import numpy as np
import pytest
import unisono as un

OPENCL = [d.name for d in un.devices("opencl")]


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def parts():
    """Two devices: halves of the first OpenCL device, if it can be divided."""
    for d in un.devices("opencl"):
        if "sub_devices" in d.aspects and d.compute_units >= 2:
            return d.create_sub_devices(d.compute_units // 2)[:2]
    pytest.skip("no device that can be divided")


@pytest.mark.parametrize("home", ["cpu", *OPENCL])
def test_bits_are_those_of_one_device(home, rng):
    a, b = rng.random((1001, 7)), rng.random(7)
    x, y = un.asarray(a, device=home), un.asarray(b, device=home)

    def f(x, y, k):
        return un.exp(x) * k + y, un.sqrt(x)

    shared = un.across([*parts(), "cpu"], f)
    want = [np.asarray(r.to_device("cpu")) for r in f(x, y, 3.0)]
    for _ in range(4):
        got = shared(x, y, 3.0)
        assert [r.device for r in got] == [home] * 2
        for r, w in zip(got, want, strict=True):
            np.testing.assert_array_equal(np.asarray(r.to_device("cpu")), w)
    assert set(shared.shares) == {*(d.name for d in parts_of(shared)), "cpu"}
    assert sum(shared.shares.values()) == pytest.approx(1)
    assert all(share > 0.01 for share in shared.shares.values())


def parts_of(shared):
    return [d for d in shared._devices if d != "cpu"]


def test_each_device_does_a_part():
    first, second = parts()
    seen = []

    def f(x):
        seen.append((x.device.name, x.shape[0]))
        return x + 1

    got = un.across([first, second], f)(un.arange(1000))
    assert sorted(seen) == sorted([(first.name, 500), (second.name, 500)])
    assert got.tolist() == list(range(1, 1001))


def test_shares_follow_the_measured_throughput(monkeypatch):
    shared = un.across([*parts(), "cpu"], lambda x: x * 2)
    shared._note([0, 10, 20, 30], [1.0, 1.0, 1.0])  # the first call compiles
    shared._note([0, 10, 20, 30], [1.0, 2.0, 2.0])
    assert list(shared.shares.values()) == [0.5, 0.25, 0.25]
    shared._note([0, 10, 20, 30], [1.0, 2.0, 1e9])
    assert list(shared.shares.values())[2] > 0.1
    assert shared(un.arange(100)).tolist() == list(range(0, 200, 2))


def test_compiled_functions_and_few_elements():
    @un.jit
    def twice(x):
        y = un.empty_like(x)
        for i in un.prange(x.shape[0]):
            y[i] = 2 * x[i]
        return y

    shared = un.across(parts(), twice)
    for n in (0, 1, 2, 1000):
        x = np.arange(float(n))
        np.testing.assert_array_equal(np.asarray(shared(x)), 2 * x)


def test_what_goes_wrong_is_told():
    with pytest.raises(
        TypeError, match="expected a list of devices and a function; got str and function"
    ):
        un.across("cpu", lambda x: x)
    with pytest.raises(TypeError, match="expected at least one device"):
        un.across([], lambda x: x)
    with pytest.raises(un.DeviceError, match="there is no device 'nowhere'"):
        un.across(["nowhere"], lambda x: x)
    with pytest.raises(TypeError, match="expected at least one array with an axis"):
        un.across(["cpu"], lambda x: x)(3)
    with pytest.raises(
        ValueError, match=r"expected a result with the first extent of the arrays, 10 in this part"
    ):
        un.across(["cpu"], lambda x: x.sum())(un.ones(10))
