"""Mathematical functions: within 1 ULP, NumPy's special values, one set of bits on every executor and for any length."""

import os
import subprocess
import sys

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

OURS = "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh".split()
UNARY = [*OURS, *"arcsin arccos arctan arcsinh arccosh arctanh cbrt".split()]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-310, 1e-300, 0.5, -0.5, 1e22, 1e-20, 709.9, 710.4, -745.0, -746.0]  # fmt: skip


def arguments(dtype, count=4000):
    rng = np.random.default_rng(3)
    top = 1024 if dtype == "float64" else 128
    parts = [
        rng.uniform(-3, 3, count),
        rng.uniform(-100, 88, count),
        np.ldexp(rng.uniform(1, 2, count), rng.integers(-top, top, count)),
        1 + np.ldexp(rng.uniform(-1, 1, count), -rng.integers(0, 50, count)),
        -np.ldexp(rng.uniform(1, 2, count), rng.integers(-60, 8, count)),
    ]
    return np.concatenate(parts).astype(dtype)


def same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    nan = np.isnan(a) & np.isnan(b)
    kind = f"u{a.dtype.itemsize}"
    return bool(np.all(nan | (a.view(kind) == b.view(kind))))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_at_most_one_ulp(name, dtype):
    x = arguments(dtype)
    got = np.asarray(getattr(un, name)(un.array(x)))
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(np.longdouble))
        nearest = exact.astype(dtype)
        finite = np.isfinite(nearest) & np.isfinite(got)
        assert np.array_equal(np.isnan(nearest), np.isnan(got))
        error = np.abs(got[finite].astype(np.longdouble) - exact[finite])
        ulp = np.spacing(np.abs(nearest[finite])).astype(np.longdouble)
        largest = np.finfo(dtype).max
        # Beside an infinite result stands the largest number at most.
        assert np.all(np.abs(got[~np.isfinite(nearest) & np.isfinite(got)]) == largest)
    assert float(np.max(error / ulp)) <= 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OURS)
def test_special_values(name, dtype):
    with np.errstate(all="ignore"):
        x = np.array(SPECIAL, dtype)
        want = getattr(np, name)(x.astype(np.longdouble)).astype(dtype)
    got = np.asarray(getattr(un, name)(un.array(x)))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(
        np.signbit(got)[~np.isnan(got)], np.signbit(want)[~np.isnan(want)]
    )
    np.testing.assert_array_equal(
        got[np.isinf(want) | (want == 0)], want[np.isinf(want) | (want == 0)]
    )
    np.testing.assert_allclose(got, want, rtol=1e-6 if dtype == "float32" else 1e-15, atol=5e-324)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_bits_do_not_depend_on_the_length(name, dtype):
    x = un.array(arguments(dtype)[-4040:])
    whole = np.asarray(getattr(un, name)(x))
    for k in (1, 2, 3, 7, 8, 9, 15, 17, 33, 1001):
        assert same_bits(getattr(un, name)(x[:k]), whole[:k]), k
    assert same_bits([float(getattr(un, name)(x[k])) for k in range(20)], whole[:20].astype(float))


PROGRAM = """
import sys, numpy as np, unisono as un
sys.path.insert(0, {folder!r})
from test_math import UNARY, SPECIAL, arguments
for dtype in ("float32", "float64"):
    x = np.concatenate([arguments(dtype), np.array(SPECIAL, dtype)])
    a = un.array(x)
    for name in UNARY:
        for _ in range(3):
            y = getattr(un, name)(a) + 0.0
            un.eval(y)
        v = np.asarray(y)
        sys.stdout.buffer.write(np.where(np.isnan(v), 0, v).tobytes())
    for name in ("power", "arctan2", "hypot"):
        for other in (a[::-1], -1.5, 3.0, -6.0, 65.0, un.array(np.arange(len(x)) % 141 - 70.0)):
            for _ in range(3):
                y = getattr(un, name)(a, other) + 0.0
                un.eval(y)
            v = np.asarray(y)
            sys.stdout.buffer.write(np.where(np.isnan(v), 0, v).tobytes())
"""


@pytest.mark.slow
def test_executors_agree_bit_for_bit():
    program = PROGRAM.format(folder=os.path.dirname(__file__))
    made = {}
    for executor in ("block", "cpu", "interp"):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program],
            env={**os.environ, "UNISONO_EXECUTOR": executor},
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr.decode()
        made[executor] = done.stdout
    assert len(made["block"]) > 1_000_000
    assert made["block"] == made["cpu"]
    assert made["block"] == made["interp"]


def test_powers_of_integers():
    base = np.arange(-5, 6)
    assert np.array_equal(un.asarray(base) ** 7, base**7)
    assert np.array_equal(un.asarray(base) ** un.asarray(np.arange(11)), base ** np.arange(11))
    assert np.array_equal(2 ** un.arange(70), 2 ** np.arange(70))  # wraps
    for exponent in (-1, un.asarray([-1] * 11)):
        with pytest.raises(ValueError, match="negative integer powers"):
            un.asarray(base) ** exponent


def test_powers_of_floats():
    x = np.array([0.0, -0.0, 2.5, -2.0, np.inf, -np.inf, np.nan, 1e-320])
    for y in (3.0, -2.0, 0.0, 0.25, np.inf, -np.inf):
        with np.errstate(all="ignore"):
            want = np.power(x, y)
        np.testing.assert_allclose(np.asarray(un.power(un.array(x), y)), want, rtol=3e-16)
    assert float(un.power(2.0, 0.5)) == 2.0**0.5


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["power", "arctan2", "hypot"])
def test_functions_of_two_numbers(name, dtype):
    """At most one ULP, and NumPy's result for each two of the special values."""
    rng = np.random.default_rng(4)
    ends = [*SPECIAL, 2.0, -2.0, 3.0, -3.0, 0.25, -1.5, 2.0**52, 2.0**53 + 2, -(2.0**53) + 1]
    if name == "power":
        count = 20000
        near = 1 + np.ldexp(rng.uniform(-1, 1, count), -rng.integers(1, 20, count))
        wide = np.ldexp(rng.uniform(1, 2, count), rng.integers(-1074, 1023, count))
        x = np.concatenate([rng.uniform(0, 20, count), near, wide, np.abs(wide)])
        halves = np.rint(rng.uniform(-9, 9, count)) / 2
        logs = rng.uniform(-720, 720, 2 * count) / np.log(x[count : 3 * count])
        y = np.concatenate([rng.uniform(-30, 30, count), logs, halves])
    else:
        x = arguments(dtype)
        y = rng.permutation(x)
    with np.errstate(all="ignore"):
        grid = np.array(ends, dtype)
        x = np.concatenate([x.astype(dtype), np.repeat(grid, len(ends))])
        y = np.concatenate([y.astype(dtype), np.tile(grid, len(ends))])
        exact = getattr(np, name)(x.astype(np.longdouble), y.astype(np.longdouble))
        want = exact.astype(dtype)
        got = np.asarray(getattr(un, name)(un.array(x), un.array(y)))
        one = getattr(un, name)(un.array(x[:50]), float(y[7]))
        one_want = getattr(un, name)(un.array(x[:50]), un.array(np.full(50, y[7])))
    assert same_bits(one, one_want)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    number = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]))
    finite = np.isfinite(want) & np.isfinite(got)
    ulp = np.spacing(np.abs(want[finite])).astype(np.longdouble)
    assert float(np.max(np.abs(got[finite] - exact[finite]) / ulp)) <= 1
    largest = np.finfo(dtype).max
    beside = ~np.isfinite(want) | ~np.isfinite(got)
    for a in (got[beside & number], want[beside & number]):
        assert np.all(np.isinf(a) | (np.abs(a) == largest))


COMPILED = {
    -0.5: un.jit(lambda x: x**-0.5),
    1.5: un.jit(lambda x: x**1.5),
    -1.5: un.jit(lambda x: x**-1.5),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("exponent", [-0.5, 1.5, -1.5])
def test_powers_of_known_halves(exponent, dtype):
    """At most one ULP, NumPy's result for special values, the same bits compiled and for any length."""
    ends = np.array(
        [*SPECIAL, 4.0, 0.25, -1e-300, 2.0**300, 2.0**-300, 2.0**301, 2.0**-301, 5e-324]
    )
    with np.errstate(all="ignore"):
        x = np.concatenate([np.abs(arguments("float64")), ends]).astype(dtype)
        exact = x.astype(np.longdouble) ** exponent
        want = exact.astype(dtype)
        got = un.array(x) ** exponent
        assert got.dtype == dtype
        got = np.asarray(got)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    number = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]))
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[number & ~finite], want[number & ~finite])
    error = np.abs(got[finite].astype(np.longdouble) - exact[finite])
    assert float(np.max(error / np.spacing(np.abs(want[finite])).astype(np.longdouble))) <= 1
    assert same_bits(un.array(x[:77]) ** exponent, got[:77])
    if dtype != "float16":
        assert same_bits(COMPILED[exponent](x), got)


def near_the_ends(dtype, exponent, count=700):
    """Numbers whose powers lie between the least and the largest number, and around both."""
    rng = np.random.default_rng(abs(exponent))
    least, top = (-1074, 1024) if dtype == "float64" else (-149, 128)
    size = max(abs(exponent), 1)
    parts = [rng.uniform(0.2, 4, count)]
    for low, high in ((least, top), (least, least + 60), (top - 9, top)):
        ends = sorted((low // size, high // size))
        parts.append(
            np.ldexp(rng.uniform(1, 2, count), rng.integers(ends[0] - 1, ends[1] + 2, count))
        )
    x = np.concatenate([*parts, *(1 / p for p in parts)]) * rng.choice([-1, 1], 8 * count)
    return np.concatenate([x, SPECIAL]).astype(dtype)


@un.jit
def fill_powers(x, out, exponent):
    for i in range(len(x)):
        out[i] = x[i] ** exponent


@un.jit
def power_of_one(x, exponent):
    return x**exponent


BY_PRODUCTS = [3, 4, 5, 6, 7, 12, 31, 64, -2, -3, -4, -7, -33, -64]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", BY_PRODUCTS)
def test_powers_by_products(exponent, dtype):
    """Less than one ULP, NumPy's special values, one set of bits however the exponent is given."""
    with np.errstate(all="ignore"):
        x = near_the_ends(dtype, exponent)
        exact = x.astype(np.longdouble) ** exponent
        want = exact.astype(dtype)
    got = np.asarray(un.power(un.array(x), un.array(np.full(len(x), exponent, dtype))))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    number = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]))
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[number & ~finite], want[number & ~finite])
    error = np.abs(got[finite].astype(np.longdouble) - exact[finite])
    ulps = error / np.spacing(np.abs(want[finite])).astype(np.longdouble)
    # Cubes lose their low part in front of the least numbers.
    is_cube = exponent == 3 and dtype == "float64"
    assert float(np.max(ulps)) <= (0.96 if is_cube else 0.76)
    normal = np.abs(want[finite]) >= (2.0**-960 if is_cube else np.finfo(dtype).tiny)
    assert float(np.max(ulps[normal])) <= 0.501

    a = un.array(x)
    mixed = np.where(np.arange(len(x)) % 3 == 0, 1.7, exponent).astype(dtype)
    assert same_bits(np.asarray(a ** un.array(mixed))[1::3], got[1::3])
    for given in (exponent, float(exponent), un.array(exponent, dtype=dtype)):
        assert same_bits(a**given, got)
    known, unknown = np.empty_like(x), np.empty_like(x)

    @un.jit
    def fill_known(x, out):
        for i in range(len(x)):
            out[i] = x[i] ** exponent

    fill_known(x, known)
    fill_powers(x, unknown, np.dtype(dtype).type(exponent))
    assert same_bits(known, got)
    assert same_bits(unknown, got)
    assert float(power_of_one(x[1], x.dtype.type(exponent))) == float(got[1])


def test_plans_know_their_exponents():
    """One line, other exponents each time: groups that run and groups that are compiled."""
    x = np.random.default_rng(0).uniform(0.5, 2, 300)
    for count in (300, 100_000):
        a = un.array(np.resize(x, count))
        for exponent in [3, 4, 5.5, 3, 65, -6, 5.5, 4] * 3:
            got = np.asarray((a + 0) ** exponent)[:300]
            np.testing.assert_allclose(got, x**exponent, rtol=3e-16)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64"])
def test_powers_of_integers_by_halves_are_float64(dtype):
    x = np.arange(1, 9).astype(dtype)
    for exponent in (0.5, -0.5, 1.5, -1.5):
        got, want = un.asarray(x) ** exponent, x**exponent
        assert got.dtype == want.dtype
        np.testing.assert_allclose(np.asarray(got), want, rtol=3e-16)


def test_tests_of_integers():
    for name, want in (("isnan", False), ("isinf", False), ("isfinite", True)):
        got = getattr(un, name)(un.arange(3))
        assert got.dtype == "bool" and got.tolist() == [want] * 3


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_magnitudes_of_complex_numbers(dtype):
    """Within 1 ULP from the smallest to the largest number, with one set of bits for any length."""
    part = np.dtype(dtype).type(0).real.dtype
    rng = np.random.default_rng(4)
    top = 1020 if part == np.float64 else 124
    x, y = np.ldexp(rng.uniform(-2, 2, (2, 6000)), rng.integers(-top, top, (2, 6000)))
    near = x * rng.uniform(0.3, 3, 6000)
    pairs = np.concatenate(
        [[x, y], [x, near], np.ldexp(rng.uniform(0, 9, (2, 6000)), -1074)], axis=1
    )
    edges = np.array(SPECIAL + [1.7e308, 2.2e-308])
    pairs = np.concatenate([pairs, np.array(np.meshgrid(edges, edges)).reshape(2, -1)], axis=1)
    with np.errstate(all="ignore"):
        z = pairs.astype(part)
        numbers = np.empty(z.shape[1], dtype)
        numbers.real, numbers.imag = z
        exact = np.hypot(*z.astype(np.longdouble))
        rounded = exact.astype(part)
        got = np.asarray(un.abs(un.asarray(numbers)))
        infinite = ~np.isfinite(rounded) | ~np.isfinite(got)
        error = np.abs(got.astype(np.longdouble) - exact)[~infinite]
        unit = np.spacing(np.abs(rounded[~infinite])).astype(np.longdouble)
    np.testing.assert_array_equal(got[infinite], rounded[infinite])
    assert float((error / unit).max()) <= 1.0
    for k in (1, 3, 7, 17):
        short = np.asarray(un.abs(un.asarray(numbers)[k : 2 * k]))
        np.testing.assert_array_equal(short, got[k : 2 * k])


def test_cubes_near_the_limits_of_the_format():
    """Signs of what underflows and overflows, and the bits of exponents that are numbers and arrays."""
    rng = np.random.default_rng(8)
    x = np.ldexp(rng.uniform(1, 2, 20000), rng.integers(-1074, 1023, 20000))
    x = np.concatenate([x, [0.0, np.inf, np.nan, 2.0**342, 2.0**341, 2.0**-358, 5e-324, 1.7e308]])
    for sign in (1, -1):
        with np.errstate(all="ignore"):
            expected = ((sign * x).astype(np.longdouble) ** 3).astype("float64")
        got = np.asarray(un.asarray(sign * x) ** 3)
        by_element = np.asarray(un.asarray(sign * x) ** un.full(len(x), 3.0))
        number = ~np.isnan(x)
        assert same_bits(got[number], by_element[number]) and np.isnan(got[~number]).all()
        np.testing.assert_array_equal(np.signbit(got[number]), np.full(number.sum(), sign < 0))
        np.testing.assert_array_max_ulp(got[number], expected[number], 1)
