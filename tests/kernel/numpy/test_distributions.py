"""Distributions of np.random and of NumPy's Generators in compiled functions: NumPy's numbers after the same seed."""

import numpy as np
import pytest
import unisono as un
from functions_of_text import function_of

CALLS = {
    "beta": ["2.0, 3.0", "0.4, 0.6", "2.0, 0.5, 4"],
    "binomial": [
        "10, 0.3",
        "100, 0.5, 40",
        "1000, 0.41, 40",
        "10**6, 0.7, 40",
        "n=5, p=0.9, size=3",
    ],
    "chisquare": ["3.0", "0.5, 5"],
    "dirichlet": ["a", "(1.0, 2.0, 3.0), (2, 2)"],
    "f": ["2.0, 3.0", "2.0, 3.0, 4"],
    "gamma": ["2.0, 1.5", "0.5, 2.0, (2, 3)", "1.0", "a, 2.0", "a[:, None], a"],
    "geometric": ["0.3", "0.6, 20", "0.01, 20"],
    "hypergeometric": ["10, 5, 6", "100, 50, 60, 30", "500, 900, 700, 30", "5, 10, 8, 9"],
    "logseries": ["0.4", "0.95, 30"],
    "multinomial": ["10, (0.2, 0.3, 0.5)", "100, a / 6, 4", "30, [0.5, 0.5], (2, 2)"],
    "negative_binomial": ["3, 0.5", "2.5, 0.1, 20"],
    "noncentral_chisquare": ["2.0, 1.0", "0.5, 1.0, 9", "3.0, 0.0"],
    "noncentral_f": ["2.0, 3.0, 1.0", "2.0, 3.0, 1.0, 4"],
    "normal": ["a", "a, 2.0", "1.0, a, (2, 3)"],
    "poisson": ["3.0", "30.0, 40", "lam=a * 20", "1e5, 30", "0.0"],
    "laplace": ["a", "0.0, a"],
    "gumbel": ["a", "0.0, a, (2, 3)"],
    "logistic": ["a, 2.0"],
    "lognormal": ["a", "a, 0.5, (2, 3)"],
    "pareto": ["a"],
    "rayleigh": ["a"],
    "weibull": ["a", "a, (2, 3)"],
    "exponential": ["a"],
    "power": ["2.0", "3.0, 5"],
    "standard_cauchy": ["", "5"],
    "standard_gamma": ["2.0", "0.3, 5"],
    "standard_t": ["4.0", "4.0, 5"],
    "triangular": ["0.0, 1.0, 3.0", "0.0, 1.0, 3.0, 5"],
    "uniform": ["a, 5.0", "0.0, a + 1"],
    "vonmises": ["0.0, 1.0", "1.0, 4.0, 20", "0.0, 1e-9", "0.5, 1e-6"],
    "wald": ["1.0, 2.0", "1.0, 2.0, 5"],
    "zipf": ["3.0", "1.5, 20"],
}


def drawn(owner, name, calls):
    text = ", ".join(f"{owner}.{name}({c})" for c in calls)
    lines = {"np": "    np.random.seed(seed)\n", "rng": ""}[owner.partition(".")[0]]
    draw = f"def draw(seed, rng, a):\n{lines}    return {text}, {owner}.random()\n"
    return function_of(draw, "draw", f"<{owner} {name}>", np=np)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("owner", ["np.random", "rng"])
def test_the_same_numbers(owner, name):
    draw = drawn(owner, name, CALLS[name])
    compiled, a = un.jit(draw), np.array([1.0, 2.0, 3.0])
    for seed in range(5):
        ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
        for got, wanted in zip(compiled(seed, ours, a), draw(seed, theirs, a), strict=True):
            got, wanted = np.asarray(got), np.asarray(wanted)
            assert got.shape == wanted.shape and got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol=1e-12)


def of_generators(rng, a):
    return (
        (rng.standard_normal(700), rng.exponential(2.0, 300), rng.random(5, dtype=np.float32))
        + (
            rng.integers(0, 9, 20, dtype=np.int32),
            rng.choice(3, 9, p=a / 6),
            rng.choice(a, p=a / 6),
        )
        + (rng.choice(50, 20, replace=False), rng.choice(20000, 900, replace=False))
        + (rng.choice(100, 7, replace=False, shuffle=False), rng.poisson(a * 20), rng.random())
    )


def test_bits_of_generators():
    a = np.array([1.0, 2.0, 3.0])
    for bits in (np.random.PCG64, np.random.MT19937):
        ours, theirs = np.random.Generator(bits(5)), np.random.Generator(bits(5))
        for got, wanted in zip(
            un.jit(of_generators)(ours, a), of_generators(theirs, a), strict=True
        ):
            assert np.asarray(got).dtype == np.asarray(wanted).dtype
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("binomial(-1, 0.5)", "n < 0"),
        ("binomial(3, 1.5)", "p < 0, p > 1 or p is NaN"),
        ("poisson(-1.0)", "lam < 0 or lam is NaN"),
        ("gamma(-1.0)", "shape < 0"),
        ("beta(1.0, 0.0)", "b <= 0"),
        ("zipf(1.0)", "a <= 1 or a is NaN"),
        ("triangular(1.0, 0.0, 3.0)", "left > mode"),
        ("hypergeometric(2, 3, 9)", "ngood \\+ nbad < nsample"),
    ],
)
def test_parameters_out_of_range(call, message):
    for owner in ("np.random", "rng"):
        name, _, arguments = call[:-1].partition("(")
        draw = drawn(owner, name, [arguments])
        with pytest.raises(ValueError, match=message):
            un.jit(draw)(1, np.random.default_rng(1), np.ones(3))
