"""Polynomials by their coefficients: NumPy's dtypes and values, and coefficients that lie on devices."""

import itertools

import numpy as np
import pytest
import unisono as un

DTYPES = ["bool", "int8", "uint8", "int32", "uint32", "int64", "float32", "float64", "complex64"]
PAIRS = {
    "polyadd": lambda xp, a, b: xp.polyadd(a, b),
    "polysub": lambda xp, a, b: xp.polysub(a, b),
    "polymul": lambda xp, a, b: xp.polymul(a, b),
    "polyval": lambda xp, a, b: xp.polyval(b, a),
    "of a polynomial": lambda xp, a, b: (xp.poly1d(a) * 2 - xp.poly1d(b)).coeffs,
}
SINGLE = {
    "poly": lambda xp, a: xp.poly(a),
    "power": lambda xp, a: (xp.poly1d(a) ** 3).coeffs,
    "roots": lambda xp, a: xp.sort(abs(xp.roots(xp.concatenate([a, 0 * a[:2]])))),
}


def same(ours, theirs):
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours.get(), theirs, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(("one", "two"), list(itertools.product(DTYPES, DTYPES)))
def test_pairs_of_dtypes(name, one, two):
    if name == "polysub" and one == two == "bool":
        pytest.skip("bools are not subtracted")
    a, b = np.array([1, 7, 3, 9, 2]).astype(one), np.array([3, 1, 8]).astype(two)
    if name == "of a polynomial" and "bool" in (one, two):
        pytest.skip("bools are not subtracted")
    same(PAIRS[name](un, un.asarray(a), un.asarray(b)), PAIRS[name](np, a, b))
    if name != "polyval":
        same(PAIRS[name](un, un.asarray(b), un.asarray(a)), PAIRS[name](np, b, a))


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_dtypes(name, dtype):
    a = np.array([1, 4, 3, 2]).astype(dtype)
    same(SINGLE[name](un, un.asarray(a)), SINGLE[name](np, a))


def test_differences_of_unsigned_coefficients_wrap_as_they_are_subtracted_only():
    a, b = np.array([1, 2, 3]), np.array([4, 5], np.uint32)
    assert un.polysub(un.asarray(a), un.asarray(b)).tolist() == [1, -2, -2]


def test_coefficients_of_devices(device):
    p = un.poly1d(un.asarray([1.0, 2.0, 4.0], device=device))
    wanted = np.poly1d([1.0, 2.0, 4.0])
    for made, expected in ((p**2, wanted**2), (p(p), wanted(wanted)), (3 - p, 3 - wanted)):
        assert made.coeffs.device == device
        same(made.coeffs, expected.coeffs)
    p[4] = 5
    wanted[4] = 5
    assert p.coeffs.device == device and p.coeffs.tolist() == wanted.coeffs.tolist()
    found = un.roots(un.asarray([0, 1, 2, 0], device=device))
    assert found.device == device and found.tolist() == [-2.0, 0.0]
    x, fx, fy = (un.asarray(v, device=device) for v in ([-1.0, 0.5, 2.0], [0, 1], [1j, 3]))
    assert (
        un.interp(x, fx, fy, 7, 8j).tolist()
        == np.interp([-1, 0.5, 2], [0, 1], [1j, 3], 7, 8j).tolist()
    )


def test_variable_of_another_polynomial():
    assert un.poly1d(np.poly1d([1, 2], variable="z")).variable == "z"
