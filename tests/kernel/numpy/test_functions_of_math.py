"""Functions of math and cmath that are no rows of the table of operations, in compiled functions."""

import cmath
import math
import random

import numpy as np
import pytest
import unisono as un


def floats(x):
    return (
        (math.erf(x), math.erfc(x), math.radians(x), math.degrees(x), math.frexp(x), math.modf(x))
        + (math.ulp(x), math.ldexp(x, 3), math.ldexp(x, -2000), math.remainder(x, 0.75))
        + (
            math.isclose(x, x * (1 + 1e-12)),
            math.isclose(x, 2 * x),
            math.isclose(x, 0.0, abs_tol=1),
        )
    )


def test_floats():
    f = un.jit(floats)
    random.seed(4)
    some = [random.gauss(0, 1) * 10 ** random.uniform(-9, 9) for _ in range(300)]
    for x in [0.0, -0.0, 1.0, -2.5, 7, True, 1e300, 5e-324, *some]:
        assert repr(f(x)) == repr(floats(x)), x


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
def test_powers_of_two_by_integers_of_each_width(dtype):
    f = un.jit(lambda x, i: math.ldexp(x, i))
    for x in (0.75, np.inf, 5e-324):
        assert f(x, np.dtype(dtype).type(3)) == math.ldexp(x, 3)


def logs(x, base):
    return math.log(x, base), math.log(x)


def test_logarithms_to_a_base():
    f = un.jit(logs)
    np.testing.assert_allclose(f(10.0, 3), logs(10.0, 3), rtol=1e-15)
    with pytest.raises(ZeroDivisionError):
        f(2.0, 1.0)
    with pytest.raises(ValueError, match="math domain error"):
        f(2.0, -1.0)


def test_gamma():
    f = un.jit(lambda x: math.gamma(x))
    g = un.jit(lambda x: math.lgamma(x))
    for x in [0.5, 2.25, -1.5, 10, 20.5, 100.25, 170.5, 1e-300]:
        assert math.isclose(f(x), math.gamma(x), rel_tol=4e-15)
        assert math.isclose(g(x), math.lgamma(x), rel_tol=4e-15)
    assert [f(float(n)) for n in range(1, 24)] == [math.factorial(n - 1) for n in range(1, 24)]
    for x in (0.0, -3.0, -math.inf):
        with pytest.raises(ValueError, match="math domain error"):
            f(x)
    for function, x in ((f, 180.0), (g, 1e308)):
        with pytest.raises(OverflowError, match="math range error"):
            function(x)
    assert g(-math.inf) == math.inf and math.isnan(f(math.nan))


def inverses(z):
    return (
        cmath.acos(z),
        cmath.acosh(z),
        cmath.asin(z),
        cmath.asinh(z),
        cmath.atan(z),
        cmath.atanh(z),
    )


def test_inverses_of_complex_numbers():
    f = un.jit(inverses)
    parts = [0.0, -0.0, 0.5, -0.5, 2.0, -2.0, 1e-300, 1e300, -1e300, math.inf, -math.inf]
    for x in parts:
        for y in parts:
            for got, wanted in zip(f(complex(x, y)), inverses(complex(x, y)), strict=True):
                assert cmath.isclose(got, wanted, rel_tol=1e-15) or got == wanted, (x, y)
                assert math.copysign(1, got.real) == math.copysign(1, wanted.real), (x, y)
                assert math.copysign(1, got.imag) == math.copysign(1, wanted.imag), (x, y)
    with pytest.raises(ValueError, match="math domain error"):
        un.jit(lambda z: cmath.atanh(z))(1.0)


def test_in_parallel_loops():
    @un.jit
    def normal(x, out):
        for i in un.prange(len(x)):
            out[i] = 0.5 * (1.0 + math.erf(x[i] / math.sqrt(2.0)))

    x = np.linspace(-3, 3, 1000)
    out = np.empty(1000)
    normal(x, out)
    assert out.tolist() == [0.5 * (1.0 + math.erf(v / math.sqrt(2.0))) for v in x.tolist()]


@pytest.mark.parametrize(
    "function",
    [np.emath.sqrt, un.emath.log, np.ma.sum, np.polynomial.polynomial.polyadd],
)
def test_namesakes_are_not_taken_for_each_other(function):
    with pytest.raises(un.CompileError):
        un.jit(lambda a: function(a))(np.array([-1.0, 4.0]))


@pytest.mark.parametrize("path", ["random.bytes", "random.get_state"])
def test_refusals_name_functions_by_their_paths(path):
    function = eval(f"np.{path}")
    with pytest.raises(un.CompileError, match=rf"np\.{path} is not supported"):
        un.jit(lambda n: function(n), nopython=True)(3)


def to_halves(x: float):
    return x**1.5, x**-1.5, x**-0.5


def to_three_halves(x: float):
    return x**1.5


def test_powers_of_halves_are_those_of_arrays():
    x = np.exp(np.random.default_rng(2).uniform(-400, 400, 200))
    x = np.concatenate([x, [1.0, 4.0, np.inf, 5e-324, 2.0**-1022]])
    compiled = un.njit(to_halves)
    wanted = [np.asarray(un.asarray(x) ** y) for y in (1.5, -1.5, -0.5)]
    for k, v in enumerate(x.tolist()):
        if all(np.isfinite(w[k]) for w in wanted) or np.isinf(v):
            assert compiled(v) == tuple(w[k] for w in wanted)
    assert un.njit(to_three_halves)(-0.0) == 0.0
    with pytest.raises(ZeroDivisionError, match="0.0 cannot be raised to a negative power"):
        compiled(0.0)
    with pytest.raises(ValueError, match="a negative number to a fractional power is complex"):
        compiled(-2.0)
    with pytest.raises(OverflowError):
        compiled(1e300)
