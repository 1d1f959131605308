"""Complex numbers on every device: element-wise work, parts, reductions and casts, against NumPy."""

import numpy as np
import pytest
import unisono as un

EXPRESSIONS = {
    "product": lambda xp, x: x * x - 2j,
    "number": lambda xp, x: xp.where(x.real > 3, 1j * x, 2 - 1j),
    "quotient": lambda xp, x: x / (x + 3),
    "parts": lambda xp, x: x.real + x.imag,
    "conjugate": lambda xp, x: xp.conj(x),
    "strided": lambda xp, x: x[::-2].copy(),
    "choice": lambda xp, x: xp.where(x.real > 2, x, -x),
    "comparison": lambda xp, x: x == x[::-1],
    "from real": lambda xp, x: x.real.astype(x.dtype),
    "sum": lambda xp, x: xp.sum(x),
    "sum of rows": lambda xp, x: xp.sum(x.reshape(2, 5), axis=1),
    "power": lambda xp, x: x**2,
}


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(device, name, dtype):
    a = (np.arange(10) + 1j * np.arange(10)[::-1]).astype(dtype)
    x = un.asarray(a, device=device)
    expected, got = EXPRESSIONS[name](np, a), EXPRESSIONS[name](un, x)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(
        np.asarray(got), expected, rtol=1e-6 if dtype == "complex64" else 1e-15
    )


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sin", "absolute", "angle"])
def test_functions(device, name):
    a = np.linspace(-2, 2, 11) + 1j * np.linspace(3, -1, 11)
    got = getattr(un, name)(un.asarray(a, device=device))
    np.testing.assert_allclose(np.asarray(got), getattr(np, name)(a), rtol=1e-14)


def test_parts_are_written(device):
    x = un.zeros(4, complex, device=device)
    x.real = 2.0
    x.imag[1:] = un.arange(3.0, device=device)
    assert np.asarray(x).tolist() == [2, 2, 2 + 1j, 2 + 2j]
    x[:2] = 1j
    x[x == 2 + 2j] = 3 - 1j
    assert np.asarray(x).tolist() == [1j, 1j, 2 + 1j, 3 - 1j]
