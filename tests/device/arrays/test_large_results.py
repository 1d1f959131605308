"""Devices that are CPUs store large results past the caches, in whole lines, from an array of the work-item."""

import numpy as np
import pytest
import unisono as un

CPUS = [d.name for d in un.devices("opencl") if d.kind == "cpu"][:1]
pytestmark = pytest.mark.parametrize("name", CPUS)


@pytest.fixture(autouse=True)
def settings_afterwards():
    yield
    un._engine._set_setting("debug", "0")
    un._engine._set_setting("stores", "time")


def computed(function, *arrays, device, stores, capfd):
    """The result of a statement on the device, and the code that was compiled for it."""
    un._engine._set_setting("stores", stores)
    ours = [un.asarray(x, device=device) for x in arrays]
    un.eval(*ours)
    capfd.readouterr()
    un._engine._set_setting("debug", "4")
    made = function(*ours)
    un.eval(made)
    un.synchronize()
    un._engine._set_setting("debug", "0")
    return made, capfd.readouterr().err


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "uint8", "bool", "float16"])
def test_results_past_the_caches_have_the_same_bits(dtype, name, capfd):
    a, b = np.random.default_rng(1).integers(0, 2, (2, 1500, 4002)).astype(dtype)

    def function(x, y):
        return (x[:, 1:] | y[:, :-1]) ^ y[:, 1:] if dtype == "bool" else x[:, 1:] * 3 + y[:, :-1]

    made, code = computed(function, a, b, device=name, stores="past", capfd=capfd)
    assert f"un_stream_{dtype}(" in code
    wanted = function(a, b)
    assert np.array_equal(np.asarray(made), wanted)
    assert made.dtype == wanted.dtype


@pytest.mark.parametrize("first", [0, 1, 7])
def test_results_that_begin_within_a_line(first, name, capfd):
    a = np.random.default_rng(2).random(1_000_003)
    out = np.zeros(a.size + 20)

    def function(x, y):
        y[first : first + x.size] = x - 0.5
        return y

    made, code = computed(function, a, out, device=name, stores="past", capfd=capfd)
    assert first > 0 or "un_stream_float64(" in code
    assert np.array_equal(np.asarray(made), function(a, out))


def test_results_that_caches_hold_are_stored_through_them(name, capfd):
    a = np.random.default_rng(3).random(600_001)

    def function(x):
        return (x * 7 - 2) / (x * x + x) - (x - x / 3) * (x + 8)  # no other test's kernel

    made, code = computed(function, a, device=name, stores="size", capfd=capfd)
    assert "__kernel" in code and "un_stream" not in code
    assert np.array_equal(np.asarray(made), function(a))


def test_elements_apart_and_elements_that_are_read_are_stored_through_the_caches(name, capfd):
    a = np.random.default_rng(4).random(600_001)
    out = np.zeros(2 * a.size)

    def every_second(x, y):
        y[::2] = x + 3
        return y

    made, code = computed(every_second, a, out, device=name, stores="past", capfd=capfd)
    assert "un_stream" not in code
    assert np.array_equal(np.asarray(made), every_second(a, out))

    def in_place(x):
        x[:] = x * x + x
        return x

    made, code = computed(in_place, a, device=name, stores="past", capfd=capfd)
    assert "un_stream" not in code
    assert np.array_equal(np.asarray(made), in_place(a))


def test_a_compiled_function_returns_large_results_past_the_caches(name, capfd):
    a = np.random.default_rng(5).random((1100, 2003))

    @un.jit
    def f(x, y):
        return x * y + x

    made, code = computed(f, a, a, device=name, stores="time", capfd=capfd)
    assert "un_stream_float64(" in code
    assert np.array_equal(np.asarray(made), a * a + a)
