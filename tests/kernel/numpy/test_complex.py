"""Complex numbers in compiled functions, bit for bit as CPython's."""

import itertools
import struct

import numpy as np
import pytest
import unisono as un
from differential import result_or_error
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())

VALUES = [0j, -0.0 + 0j, 1 + 2j, -3.5 + 0.25j, 1e200 - 1e180j, complex(float("inf"), 1), 2.5, -4, 3]


def bits(v):
    if isinstance(v, tuple):
        return tuple(map(bits, v))
    if isinstance(v, complex):
        return "z", bits(v.real), bits(v.imag)
    if isinstance(v, float):
        return "nan" if v != v else struct.pack("d", v)
    return v


def arithmetic(x, y):
    return x + y, x - y, x * y, -x, x == y, x != y, x.real, y.imag, x.conjugate()


def quotient(x, y):
    return x / y


def size(x, y):
    return abs(x) + abs(y)


def powers(x, y):
    return x**2, x**3, x**0, x**1, x**-2, y**5


@pytest.mark.parametrize("function", [arithmetic, quotient, size, powers], ids=lambda f: f.__name__)
def test_arithmetic(function, on):
    compiled = un.jit(function, device=on)
    for x, y in itertools.product(VALUES, VALUES):
        if not isinstance(x, complex) and not isinstance(y, complex):
            continue
        if function is powers and not (isinstance(x, complex) and isinstance(y, complex)):
            continue
        got, want = result_or_error(compiled, x, y), result_or_error(function, x, y)
        if function is powers and isinstance(want, tuple) and want[0] is OverflowError:
            continue  # CPython tests each product, we none
        if isinstance(want, tuple) and isinstance(want[0], type):
            assert got == want, (x, y)
        else:
            assert bits(got) == bits(want), (x, y)


def escapes(x, y, most):
    c = complex(x, y)
    z = 0j
    for i in range(most):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag > 4:
            return i
    return most


def joins(z, n):
    s = 0
    for i in range(n):
        s += z * i
        z = z if i % 2 else z + 1j
    return s, z, bool(z), z and 1 + 0j


def builds(x, z):
    return complex(x), complex(x, 2), complex(z), complex(z, 1.5), complex(1, z), 3 + 2j


def test_programs(on):
    f = un.jit(escapes, device=on)
    for x, y in [(0.1, 0.2), (-0.7, 0.4), (1, 1), (-2.0, 0.0)]:
        assert f(x, y, 50) == escapes(x, y, 50)
    for n in (1, 5):
        assert bits(un.jit(joins, device=on)(1.5 - 2j, n)) == bits(joins(1.5 - 2j, n))
    assert bits(un.jit(builds, device=on)(2, 1 - 3j)) == bits(builds(2, 1 - 3j))


def test_numpy_numbers_and_signatures(on):
    f = un.jit(lambda z: z * 2, device=on)
    assert f(np.complex128(1 + 2j)) == 2 + 4j
    g = un.jit("complex128(complex128, float64)", device=on)(lambda z, x: z / x)
    assert g(1 + 2j, 2) == 0.5 + 1j and g(3, 2.0) == 1.5 + 0j
    h = un.jit(lambda z: z / 0.0, device=on, error_model="numpy")
    assert h(1 + 1j) != h(1 + 1j) or np.isinf(abs(h(1 + 1j)))


def test_in_parallel_loops(on):
    @un.jit(device=on)
    def f(out):
        for i in un.prange(out.shape[0]):
            z = complex(i, 1)
            w = z * z
            out[i] = w.real - w.imag

    out = np.zeros(9)
    f(out)
    assert out.tolist() == [(complex(i, 1) ** 2).real - (complex(i, 1) ** 2).imag for i in range(9)]


def every_function(z):
    return (
        np.arcsin(z) + np.arccos(z),
        np.arctan(z) * np.arctanh(z),
        np.arcsinh(z) - np.arccosh(z),
        np.expm1(z) / np.log1p(z),
    )


def test_functions_of_numpy(on):
    compiled = un.jit(every_function, device=on)
    for z in (0.5 - 0.25j, -3 + 2j, 0.1 + 0.05j, 40 - 3j):
        np.testing.assert_allclose(
            compiled(np.complex128(z)), every_function(np.complex128(z)), rtol=1e-12
        )
