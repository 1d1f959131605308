"""round(x, digits): CPython's bits, with digits that are known and that are not, of floats and integers."""

import math
import random
import struct

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


def to_digits(x, n):
    return round(x, n)


def to_two(x):
    return round(x, 2), round(x, ndigits=-1), round(x, None)


def every_one(xs, digits, out):
    for i in un.prange(len(xs)):
        out[i] = round(xs[i], digits[i])


def numbers(count):
    """Floats of all sizes, among them many that lie on or beside the middle between two decimals."""
    made, rng = [], random.Random(5)
    while len(made) < count:
        x = rng.choice(
            [
                rng.uniform(-1000, 1000),
                round(rng.uniform(-1000, 1000), rng.randint(0, 6)) + 5 * 10.0 ** -rng.randint(1, 8),
                rng.randint(-(10**6), 10**6) / 2 ** rng.randint(0, 12),
                rng.randint(-(10**15), 10**15) * 10.0 ** rng.randint(-20, 20),
                struct.unpack("d", struct.pack("Q", rng.getrandbits(64)))[0],
            ]
        )
        if math.isfinite(x) and abs(x) < 1e300:
            made.append((x, rng.randint(-22, 22)))
    return made


def test_floats_round_as_in_python():
    xs, digits = zip(*numbers(20_000), strict=True)
    out = np.empty(len(xs))
    un.jit(every_one)(np.array(xs), np.array(digits), out)
    expected = np.array([round(x, n) for x, n in zip(xs, digits, strict=True)])
    assert out.tobytes() == expected.tobytes()


@pytest.mark.parametrize("x", [2.675, -0.001, 1e22, 5.0, math.inf, -math.inf, 5e-324, 1.5, 25.0])
@pytest.mark.parametrize("n", [-25, -1, 0, 1, 2, 30])
def test_special_numbers(x, n):
    assert struct.pack("d", un.jit(to_digits)(x, n)) == struct.pack("d", round(x, n))


def test_nan_stays():
    assert math.isnan(un.jit(to_digits)(math.nan, 2))


@pytest.mark.parametrize(
    "x", [0, 7, -15, 25, 12345, True, 2**62, -(2**62), 5 * 10**18, -5 * 10**18]
)
def test_integers(x):
    f = un.jit(to_digits)
    for n in (-20, -19, -18, -5, -2, -1, 0, 3):
        made = f(x, n)
        assert (made, type(made)) == (round(x, n), int)


@pytest.mark.parametrize("x, n", [(2**63 - 1, -19), (2**63 - 1, -1), (-(2**63), -3)])
def test_integers_that_do_not_fit(x, n):
    with pytest.raises(OverflowError):
        un.jit(to_digits)(x, n)


@pytest.mark.parametrize("x", [2.675, 2.5, -17.25, 12])
def test_forms_of_the_call(x):
    assert un.jit(to_two)(x) == to_two(x)


def to_three(a, out):
    for i in un.prange(len(a)):
        out[i] = np.round(a[i], 3)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_numpys_round_of_elements(dtype):
    a = (np.random.default_rng(1).random(1000) * 100 - 50).astype(dtype)
    out = np.empty_like(a)
    un.jit(to_three, nopython=True)(a, out)
    assert out.tobytes() == np.array([np.round(x, 3) for x in a]).tobytes()


def test_more_arguments_are_refused():
    def f(x):
        return round(x, 1, 2)

    with pytest.raises(un.CompileError, match="round takes a number and digits; got 3 arguments"):
        un.jit(f)(1.0)
