"""`un.testing.check`: the first line after which places differ."""

import numpy as np
import pytest
import unisono as un
from device_arrays import with_queues

PLACES = ("cpu", "interp")


def says(f, *args, places=PLACES, **options):
    with pytest.raises(AssertionError) as error:
        un.testing.check(f, args, places=places, **options)
    return str(error.value)


def test_what_agrees_passes_and_leaves_arguments_alone():
    def f(x, scale=1):
        y = un.sqrt(x) * scale
        x += 1
        return {"sum": y.sum(), "parts": (y, x.astype("int32"))}

    x = np.arange(4.0)
    un.testing.check(f, (x,), {"scale": 3}, places=PLACES)
    un.testing.check(f, (un.asarray(x),))  # on all devices
    np.testing.assert_array_equal(x, np.arange(4.0))


def test_a_line_of_python():
    def f(x):
        y = un.sqrt(x)
        z = y + (1 if str(x.device) == "interp" else 2)
        return z.sum()

    text = says(f, np.arange(4.0))
    assert "differs between cpu and interp" in text
    assert 'z = y + (1 if str(x.device) == "interp" else 2)' in text
    assert "z[0] is 2.0 on cpu and 1.0 on interp; 4 of 4 elements differ" in text
    assert f"test_check.py:{f.__code__.co_firstlineno + 2}" in text


def test_a_later_pass_of_a_loop_and_another_way():
    def f(x):
        for k in range(5):
            if k == 3 and str(x.device) == "interp":
                x[2] = 7
            x = x + k
        return x

    text = says(f, np.arange(4.0))
    assert "x[2] = 7" in text


def test_errors_differ():
    def f(x):
        y = x * 2
        if str(x.device) == "interp":
            raise ValueError("not here")
        return y

    text = says(f, np.arange(4.0))
    assert 'raise ValueError("not here")' in text and "on interp" in text

    def g(x):
        raise KeyError

    un.testing.check(g, (np.arange(3),), places=PLACES)  # the same everywhere


def test_tolerance():
    def f(x):
        return x * (1 + 1e-14 * (str(x.device) == "interp"))

    x = np.linspace(1, 2, 50)
    un.testing.check(f, (x,), places=PLACES)
    assert "elements differ" in says(f, x, rtol=0, atol=0)

    def g(x):
        return x + (str(x.device) == "interp")

    assert "elements differ" in says(g, np.arange(4))
    un.testing.check(g, (np.arange(4.0),), places=PLACES, atol=1)


def test_infinity_differs_from_numbers():
    def f(x):
        return x / float(str(x.device) == "interp")

    def g(x):
        return x / float(str(x.device) != "interp")

    x = np.array([1.0, 2.0])
    assert "is inf on cpu" in says(f, x)
    assert "and inf on interp" in says(g, x)
    un.testing.check(lambda x: x / 0, (x,), places=PLACES)


@pytest.mark.skipif("opencl:cpu:0" not in with_queues(), reason="no OpenCL device")
def test_inside_of_a_compiled_function():
    # Contracted to fused multiply-adds on the host, and not by PoCL.
    @un.jit(fastmath=True)
    def f(a, b, c, out):
        count = 0
        for i in range(a.size):
            count += 1
            out[i] = a[i] * b[i] + c[i]
        return count

    draw = np.random.default_rng(0).random
    args = draw(50), draw(50), -draw(50), np.zeros(50)
    un.testing.check(f, args, places=PLACES)
    text = says(f, *args, places=("cpu", "opencl:cpu:0"), rtol=0, atol=0)
    assert "out[i] = a[i] * b[i] + c[i]" in text and "out[i] is " in text and "assignment" in text


def test_compiled_functions_with_values_that_are_no_numbers():
    @un.jit
    def f(a):
        b = un.sqrt(a)
        pair = (1, b.sum())
        s = 0.0
        for k in un.prange(b.size):
            s += b[k]
        return s + pair[0]

    un.testing.check(f, (np.arange(5.0),))


def test_launches_of_kernels():
    @un.kernel
    def double(x):
        x[un.global_id(0)] *= 2

    def f(x):
        double[x.size](x)
        return x

    un.testing.check(f, (np.arange(4.0),))


def test_places_are_at_least_two():
    with pytest.raises(ValueError, match="places are at least two"):
        un.testing.check(abs, (1,), places=["cpu"])
