"""Generators of NumPy and ours as arguments of compiled functions: they draw NumPy's numbers, and go on from there."""

import numpy as np
import pytest
import unisono as un

BITS = [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64]
BITS += [un.random.PCG64, un.random.MT19937]


def generators(bits, seed):
    """A generator over the bits, and NumPy's of the same numbers."""
    made = un.random if bits.__module__.startswith("unisono") else np.random
    theirs = getattr(np.random, bits.__name__)
    return made.Generator(bits(seed)), np.random.Generator(theirs(seed))


def fractions(rng):
    return rng.random(), rng.random(5), rng.random((2, 3)), rng.uniform(1, 3, 4), rng.uniform()


def integers(rng):
    return (
        rng.integers(10),
        rng.integers(0, 10, 20),
        rng.integers(-5, 5, size=7),
        rng.integers(0, 2**40, 5),
        rng.integers(1, 6, endpoint=True, size=(2, 2)),
        rng.choice(10, 5),
        rng.choice(np.arange(7.0) * 2, 4),
        rng.permutation(10),
        rng.permutation(np.arange(12.0).reshape(4, 3)),
    )


def other_integers(rng):
    rows = np.arange(24.0).reshape(2, 3, 4)
    rng.shuffle(rows, axis=1)
    return (
        rng.integers(0, 10, 9, dtype=np.int8),
        rng.integers(-5, 10, (2, 3), dtype=np.int16),
        rng.integers(0, 256, 6, dtype=np.uint8),
        rng.integers(0, 2, 40, dtype=np.bool_),
        rng.integers(0, 1, 4, dtype=np.uint16),
        rng.integers(3, 60000, 7, dtype=np.uint16, endpoint=True),
        rng.integers(0, 2**32, 3, dtype=np.uint32),
        rng.integers(5, 10, 3, dtype=np.uint64),
        rng.integers(np.array([1, 5]), np.array([10, 6])),
        rng.integers(0, [5, 6, 7]),
        rng.integers([3, 4], size=(2, 2)),
        rng.integers(np.array([1, 5]), 100, (3, 2), np.int8),
        rows,
        rng.permutation(rows[0], axis=1),
        rng.permutation(rows, axis=-1),
    )


def curves(rng):
    return (
        rng.standard_normal(700),
        rng.normal(1.0, 2.0),
        rng.normal(loc=2.0, size=(2, 2)),
        rng.lognormal(0.0, 1.0, 4),
        rng.standard_exponential(300),
        rng.exponential(2.0, 5),
        rng.standard_cauchy(5),
        rng.laplace(0.0, 1.0, 5),
        rng.logistic(0.0, 1.0, 5),
        rng.gumbel(0.0, 1.0, 5),
        rng.rayleigh(2.0, 5),
        rng.weibull(2.0, 5),
        rng.pareto(2.0, 5),
        rng.power(2.0, 5),
        rng.triangular(0.0, 1.0, 3.0, 5),
    )


@pytest.mark.parametrize("bits", BITS, ids=lambda b: f"{b.__module__.split('.')[0]}-{b.__name__}")
@pytest.mark.parametrize(
    "draws", [fractions, integers, other_integers, curves], ids=lambda f: f.__name__
)
def test_the_same_numbers(draws, bits):
    ours, theirs = generators(bits, 5)
    for got, wanted in zip(un.jit(draws)(ours), draws(theirs), strict=True):
        assert np.shape(got) == np.shape(wanted)
        if draws is curves:  # but for the last bits of ziggurats
            np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-13)
        else:
            assert np.asarray(got).dtype == np.asarray(wanted).dtype
            np.testing.assert_array_equal(np.asarray(got), wanted)
    assert ours.random() == theirs.random()


def test_comes_back_as_the_same_object():
    @un.jit
    def drawn(rng, other):
        return rng.random(), rng, (other, other.random())

    one, two = np.random.default_rng(1), np.random.default_rng(2)
    found = drawn(one, two)
    assert found[1] is one and found[2][0] is two
    assert drawn(one, one)[2][0] is one
    mine = un.random.default_rng(1)
    assert drawn(mine, two)[1] is mine
    assert mine.random() == np.random.default_rng(1).random(2)[1]


def test_shuffles_in_place():
    @un.jit
    def shuffled(rng, x):
        rng.shuffle(x)

    for given in (np.arange(9), np.arange(12).reshape(6, 2)):
        ours, theirs = given.copy(), given.copy()
        shuffled(np.random.default_rng(2), ours)
        np.random.default_rng(2).shuffle(theirs)
        np.testing.assert_array_equal(ours, theirs)


def test_errors():
    @un.jit
    def spread(rng, scale):
        return rng.normal(0.0, scale)

    @un.jit
    def none(rng):
        return rng.integers(3, 3)

    @un.jit
    def other(rng):
        return rng.permuted(np.ones(3))

    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="scale < 0"):
        spread(rng, -1.0)
    with pytest.raises(ValueError, match="low >= high"):
        none(rng)
    with pytest.raises(un.CompileError, match="Generator has no method 'permuted'"):
        other(rng)
    with pytest.raises(AttributeError, match="Philox: .* compiled code cannot draw from it"):
        spread(un.random.Generator(un.random.Philox(0)), 1.0)


def test_a_stream_is_drawn_from_by_its_addresses():
    ours, theirs = un.random.PCG64(3), np.random.PCG64(3)
    a, b = ours.ctypes, theirs.ctypes
    assert a.next_double(a.state) == b.next_double(b.state)
    assert a.next_uint64(a.state) == b.next_uint64(b.state)
    assert ours.state == theirs.state


@un.jit
def many_curves(rng, n):
    drawn = np.empty((n, 2))
    for i in range(n):
        drawn[i, 0] = rng.normal(3.0, 0.7)
        drawn[i, 1] = rng.exponential(2.3)
    return drawn


@pytest.mark.parametrize("bits", BITS[:4], ids=lambda b: b.__name__)
def test_normal_and_exponential_numbers_have_the_bits_of_numpys_also_in_the_tails(bits):
    rng = np.random.Generator(bits(8))
    expected = np.array([(rng.normal(3.0, 0.7), rng.exponential(2.3)) for _ in range(60_000)])
    found = np.asarray(many_curves(np.random.Generator(bits(8)), 60_000))
    assert found.tobytes() == expected.tobytes()
    assert (abs(expected[:, 0] - 3.0) > 3.66 * 0.7).any()
    assert (expected[:, 1] > 7.7 * 2.3).any()


@un.jit
def alternating_binomials(rng, n):
    drawn = np.empty((n, 2), np.int64)
    for i in range(n):
        drawn[i, 0] = rng.binomial(20 + i % 2, 0.3)
        drawn[i, 1] = rng.binomial(1000, 0.9 - i % 3 * 0.1)
    return drawn


def test_binomial_numbers_of_changing_parameters_are_numpys():
    rng = np.random.default_rng(8)
    expected = [
        (rng.binomial(20 + i % 2, 0.3), rng.binomial(1000, 0.9 - i % 3 * 0.1)) for i in range(2000)
    ]
    assert alternating_binomials(np.random.default_rng(8), 2000).tolist() == [
        list(r) for r in expected
    ]


def drawn_in_turn(rng, out):
    for i in range(out.shape[0]):
        out[i, 0] = rng.normal(1.5, 2.0)
        out[i, 1] = rng.exponential(3.0)
        out[i, 2] = rng.standard_normal()
        out[i, 3] = rng.standard_exponential()


@pytest.mark.parametrize(
    "bits", [np.random.PCG64, np.random.MT19937, np.random.SFC64, np.random.Philox]
)
def test_normal_and_exponential_numbers_without_a_call(bits):
    f = un.njit(drawn_in_turn)
    out, expected = np.zeros((6000, 4)), np.zeros((6000, 4))
    drawing, reference = np.random.Generator(bits(5)), np.random.Generator(bits(5))
    f(drawing, out)
    drawn_in_turn(reference, expected)
    np.testing.assert_array_equal(out, expected)  # some of them from the tails
    assert drawing.random() == reference.random()
    text = f.inspect_llvm()
    assert "unisono_native_random_of" not in text
    assert "unisono_rest_of_normal" in text and "unisono_rest_of_exponential" in text
