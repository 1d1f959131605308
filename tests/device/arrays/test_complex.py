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


FUNCTIONS = """
    exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh
    absolute angle square reciprocal
""".split()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(device, name):
    a = np.linspace(-2.1, 2, 11) + 1j * np.linspace(3, -1, 11)
    got = getattr(un, name)(un.asarray(a, device=device))
    np.testing.assert_allclose(np.asarray(got), getattr(np, name)(a), rtol=1e-14)


@pytest.mark.parametrize("name", "arcsin arccos arctan arcsinh arccosh arctanh expm1 sinh".split())
def test_functions_of_small_and_large_numbers(device, name):
    """Each part is right within a few ULP, also near branch points and poles."""
    rng = np.random.default_rng(7)
    noise = rng.normal(size=80) + 1j * rng.normal(size=80)
    sizes = [1e-160, 1e-9, 1e-3, 1.0]
    if name not in ("expm1", "sinh"):
        sizes += [1e3, 1e160]
    near = [1 + 1e-9 * noise, -1 + 1e-6 * noise, 1j + 1e-9 * noise, 1 + 1e-200j * noise.imag]
    z = np.concatenate([s * noise for s in sizes] + near)
    got = np.asarray(getattr(un, name)(un.asarray(z, device=device)))
    expected = getattr(np, name)(z)
    np.testing.assert_allclose(got.imag, expected.imag, rtol=1e-14)
    # The real part of expm1 vanishes along a curve.
    np.testing.assert_allclose(got.real, expected.real, rtol=1e-13, atol=1e-15 * (name == "expm1"))


ENDS = [0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("name", FUNCTIONS[:20])
def test_functions_of_zeros_infinities_and_nans(device, name):
    if device == "cpu":
        pytest.skip("is what others are compared with")
    z = np.array([complex(x, y) for x in ENDS for y in ENDS])
    with np.errstate(all="ignore"):
        expected = np.asarray(getattr(un, name)(un.asarray(z)))
    got = np.asarray(getattr(un, name)(un.asarray(z, device=device)))
    # C leaves the sign of an infinity beside a NaN open.
    is_open = np.isnan(expected.real) | np.isnan(expected.imag)
    for part in ("real", "imag"):
        have, want = getattr(got, part), getattr(expected, part)
        have, want = (np.where(is_open, np.abs(v), v) for v in (have, want))
        np.testing.assert_allclose(have, want, rtol=1e-13)


def test_powers(device):
    rng = np.random.default_rng(3)
    a = rng.normal(size=120) + 1j * rng.normal(size=120)
    b = np.where(np.arange(120) < 60, rng.integers(-99, 100, 120), a[::-1])
    x, y = un.asarray(a, device=device), un.asarray(b, device=device)
    np.testing.assert_allclose(np.asarray(x**y), a**b, rtol=1e-13)
    zero = un.asarray([0j], device=device)
    assert np.asarray(zero**2)[0] == 0 and np.asarray(zero**0)[0] == 1
    assert np.isnan(np.asarray(zero**-1.5)[0])


def test_parts_are_written(device):
    x = un.zeros(4, complex, device=device)
    x.real = 2.0
    x.imag[1:] = un.arange(3.0, device=device)
    assert np.asarray(x).tolist() == [2, 2, 2 + 1j, 2 + 2j]
    x[:2] = 1j
    x[x == 2 + 2j] = 3 - 1j
    assert np.asarray(x).tolist() == [1j, 1j, 2 + 1j, 3 - 1j]


def test_exponentials_of_large_parts(device):
    """Where the exponential of the real part alone overflows, or nearly."""
    a = np.array([705 + 1j, 709.9 + 0.785j, 701 - 2j, 699 + 3j])
    x = un.asarray(a, device=device)
    np.testing.assert_allclose(np.asarray(un.exp(x)), np.exp(a), rtol=1e-12)
