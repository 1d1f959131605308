"""min and max of integers of which one type does not hold the other's values; whole exponents."""

import numpy as np
import pytest
import unisono as un

_numbers = [
    np.uint64(5),
    np.uint64(2**63 + 5),
    np.uint8(3),
    np.int8(-100),
    np.uint32(9),
    np.int64(-9),
]


@pytest.mark.parametrize("x", _numbers, ids=repr)
def test_constants(x):
    def functions():
        yield lambda x: max(-7, x)
        yield lambda x: min(-7, x)
        yield lambda x: max(x, 300)
        yield lambda x: min(x, 300)
        yield lambda x: max(x, -200, 70000)
        yield lambda x: sorted([x, x])[0]

    for f in functions():
        assert un.jit(f)(x) == f(x)


@pytest.mark.parametrize("n", [-7, 4, np.int64(-3), np.int64(7), np.int32(-2)], ids=repr)
def test_variables(n):
    @un.jit
    def both(x, n):
        return max(x, n), min(x, n), max(n, x), min(n, x)

    for x in (np.uint64(5), np.uint64(2**63 + 5)):
        high, low = max(x, n), min(x, n)
        assert both(x, n) == (high, low, high, low)


def test_integers_outside_of_the_narrow_type():
    @un.jit
    def high(x, n):
        return max(x, n)

    @un.jit
    def low(x, n):
        return min(x, n)

    assert high(np.uint8(3), -7) == 3 and low(np.uint8(3), 300) == 3
    assert high(np.int8(-3), 100) == 100 and low(np.int8(-3), -100) == -100
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for uint8"):
        high(np.uint8(3), 300)
    with pytest.raises(OverflowError, match="Python integer -7 out of bounds for uint8"):
        low(np.uint8(3), -7)


def test_whole_exponents_have_the_bits_of_arrays():
    @un.jit
    def powers(x, n):
        out = np.empty(x.size)
        for i in range(x.size):
            out[i] = x[i] ** n[i]
        return out

    draw = np.random.default_rng(3)
    x = draw.standard_normal(4000) * 10.0 ** draw.integers(-3, 4, 4000)
    x[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324]
    for high in (3, 9, 127, 5000):
        n = draw.integers(-high, high + 1, 4000)
        expected = np.asarray(un.asarray(x) ** un.asarray(n.astype(float)))
        assert np.array_equal(np.asarray(powers(x, n)), expected, equal_nan=True)
    x[8:208] = draw.choice([-1, 1], 200) * 2.0 ** draw.uniform(-40, 40, 200)
    for one in range(-20, 21):  # an exponent that the compiler knows, and one of each element
        expected = np.asarray(un.asarray(x) ** one)
        assert np.array_equal(np.asarray(powers(x, np.full(4000, one))), expected, equal_nan=True)


def test_whole_exponents_that_are_computed():
    @un.jit
    def bernstein(t, n):
        s = 0.0
        for j in range(n + 1):
            s += t**j * (1 - t) ** (n - j)
        return s

    for t in (0.0, 0.25, -1.5, 1.0, 1e-12, 1e12):
        expected = sum(t**j * (1 - t) ** (20 - j) for j in range(21))
        assert bernstein(t, 20) == pytest.approx(expected, rel=1e-14)


def test_whole_exponents_of_python():
    def power(x, n):
        return x**n

    ours = un.jit(power)
    for x in (2.5, -3.0, 0.5, 1.0, 0.0):
        for n in (0, 1, 2, 3, 7, 64, 300, -1 if x else 4, -5 if x else 4):
            assert ours(x, n) == pytest.approx(power(x, n), rel=3e-16)
    with pytest.raises(ZeroDivisionError):
        ours(0.0, -2)
    with pytest.raises(OverflowError):
        ours(10.0, 400)


_SIGNED = (np.int8(-100), np.int16(77), np.int32(-1), np.int64(-9))


@pytest.mark.parametrize("x", _SIGNED, ids=repr)
def test_bits_of_uint64_beside_signed_integers(x):
    """NumPy refuses them; as in Numba the bits are kept, shifts have the sign of what is shifted."""

    @un.jit
    def f(a, b):
        return a & b, a | b, a ^ b, b ^ a, a << np.uint64(3), a >> np.uint64(2), b >> np.int8(1)

    y = np.uint64(2**63 + 5)
    signed, bits = int(x), int(y) - 2**64
    want = [signed & bits, signed | bits, signed ^ bits, signed ^ bits]
    want += [signed << 3, signed >> 2, int(y) >> 1]
    assert [int(v) for v in f(x, y)] == want
