"""Random numbers: moments against theory, errors as NumPy's, and the same numbers for any thread count."""

import copy
import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere
on_host = pytest.mark.host_only("drawn one number after the other, on the host")

N = 200_000
# Name, arguments, mean and variance.
MOMENTS = [
    ("random", (), 0.5, 1 / 12), ("uniform", (2, 5), 3.5, 9 / 12), ("standard_normal", (), 0, 1),
    ("normal", (3, 2), 3, 4), ("standard_exponential", (), 1, 1), ("exponential", (3,), 3, 9),
    ("gamma", (0.5, 2), 1, 2), ("gamma", (5, 2), 10, 20), ("standard_gamma", (3,), 3, 3),
    ("beta", (2, 3), 0.4, 0.04), ("beta", (0.5, 0.5), 0.5, 0.125), ("chisquare", (4,), 4, 8),
    ("noncentral_chisquare", (3, 2), 5, 14), ("noncentral_chisquare", (0.5, 2), 2.5, 9),
    ("f", (5, 20), 20 / 18, 2 * 20**2 * 23 / (5 * 18**2 * 16)), ("standard_t", (10,), 0, 10 / 8),
    ("laplace", (1, 2), 1, 8), ("logistic", (1, 2), 1, 4 * math.pi**2 / 3),
    ("gumbel", (0, 1), 0.5772156649, math.pi**2 / 6), ("rayleigh", (2,), 2 * math.sqrt(math.pi / 2), (4 - math.pi) / 2 * 4),
    ("lognormal", (0, 0.5), math.exp(0.125), (math.exp(0.25) - 1) * math.exp(0.25)),
    ("weibull", (2,), math.sqrt(math.pi) / 2, 1 - math.pi / 4), ("pareto", (5,), 0.25, 5 / (16 * 3)),
    ("power", (3,), 0.75, 3 / (16 * 5)), ("triangular", (0, 1, 4), 5 / 3, (16 + 1 - 4) / 18),
    ("wald", (2, 3), 2, 8 / 3), ("poisson", (3,), 3, 3), ("poisson", (100,), 100, 100), ("binomial", (10, 0.3), 3, 2.1),
    ("binomial", (1000, 0.7), 700, 210), ("negative_binomial", (5, 0.5), 5, 10), ("geometric", (0.25,), 4, 12),
    ("hypergeometric", (15, 35, 20), 6, 20 * 0.3 * 0.7 * 30 / 49), ("hypergeometric", (15, 35, 40), 12, 40 * 0.3 * 0.7 * 10 / 49),
    ("logseries", (0.6,), -0.6 / (math.log(0.4) * 0.4), None), ("zipf", (4,), 1.2020569 / 1.0823232, None),
    ("vonmises", (0, 4), 0, None), ("integers", (0, 10), 4.5, 99 / 12), ("standard_cauchy", (), None, None),
    ("noncentral_f", (5, 20, 2), 20 * 7 / (5 * 18), None),
]  # fmt: skip


@pytest.mark.parametrize(
    "name, args, mean, variance", MOMENTS, ids=[f"{m[0]}{m[1]}" for m in MOMENTS]
)
@pytest.mark.parametrize("kind", ["PCG64", "Philox"])
def test_moments(name, args, mean, variance, kind):
    rng = un.random.default_rng(getattr(un.random, kind)(12))
    x = np.asarray(getattr(rng, name)(*args, size=N))
    expected = np.asarray(getattr(np.random.default_rng(11), name)(*args, size=N))
    assert x.shape == (N,) and x.dtype == expected.dtype and np.isfinite(x).all()
    if mean is not None:
        assert abs(x.mean() - mean) < 6 * expected.std() / math.sqrt(N)
    if variance is not None:
        # Sample variances differ by about their own error, which the fourth moment gives.
        centred = expected - expected.mean()
        error = math.sqrt(max((centred**4).mean() - (centred**2).mean() ** 2, 1e-12) / N)
        assert abs(x.var() - variance) < 6 * error
    # The distribution as a whole, against NumPy's: Kolmogorov and Smirnov at one in a million.
    grid = np.unique(expected)
    one = np.searchsorted(np.sort(x), grid, side="right") / N
    two = np.searchsorted(np.sort(expected), grid, side="right") / N
    assert abs(one - two).max() < 2.7 * math.sqrt(2 / N)


@pytest.mark.parametrize("kind", ["PCG64", "Philox"])
def test_same_numbers_for_any_threads_and_cuts(kind):
    def drawn():
        rng = un.random.default_rng(getattr(un.random, kind)(3))
        return [
            np.asarray(x).tobytes()
            for x in (
                rng.random(100_001), rng.standard_normal(50_000), rng.gamma(0.7, size=30_000),
                rng.integers(0, 7, 40_000), rng.poisson(50, 20_000), rng.permutation(5000),
                rng.random(10_000, dtype="float32"),
            )
        ]  # fmt: skip

    results = []
    for threads in (1, 2, 3):
        un.set_num_threads(threads)
        try:
            results.append(drawn())
        finally:
            un.set_num_threads(len(os.sched_getaffinity(0)))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("kind", ["PCG64", "Philox"])
@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential"])
def test_cuts_do_not_change_the_numbers(name, kind):
    def fresh():
        return un.random.default_rng(getattr(un.random, kind)(4))

    whole = np.asarray(getattr(fresh(), name)(1001))
    rng = fresh()
    parts = [np.asarray(getattr(rng, name)(n)) for n in (1, 2, 3, 494, 501)]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    rng = fresh()
    assert [float(getattr(rng, name)()) for _ in range(5)] == whole[:5].tolist()


def test_seeds_and_streams():
    a, b = un.random.default_rng(5), un.random.default_rng(5)
    assert a.random(9).tolist() == b.random(9).tolist()
    assert a.random(9).tolist() != un.random.default_rng(5).random(9).tolist()
    assert un.random.default_rng(5).random() != un.random.default_rng(6).random()
    assert un.random.default_rng().random() != un.random.default_rng().random()
    children = un.random.default_rng(5).spawn(3)
    firsts = {float(g.random()) for g in children}
    assert len(firsts) == 3
    state = a.bit_generator.state
    x = a.random(4).tolist()
    a.bit_generator.state = state
    assert a.random(4).tolist() == x
    assert un.random.default_rng(a) is a


@pytest.mark.parametrize(
    "entropy", [0, 1, 42, 2**40 + 7, 2**200 + 3, [1, 2, 3], [2**33, 5, 6, 7, 8]]
)
def test_seed_sequence_is_numpys(entropy):
    ours, theirs = un.random.SeedSequence(entropy), np.random.SeedSequence(entropy)
    assert ours.generate_state(9).tolist() == theirs.generate_state(9).tolist()
    assert ours.generate_state(5, "uint64").tolist() == theirs.generate_state(5, np.uint64).tolist()
    for one, two in zip(ours.spawn(2), theirs.spawn(2), strict=True):
        assert one.generate_state(4).tolist() == two.generate_state(4).tolist()
        assert (
            one.spawn(1)[0].generate_state(4).tolist() == two.spawn(1)[0].generate_state(4).tolist()
        )


def test_integers():
    rng = un.random.default_rng(1)
    for dtype in ("int64", "int32", "uint8", "bool"):
        most = 2 if dtype == "bool" else 100
        x = np.asarray(rng.integers(0, most, 5000, dtype=dtype))
        assert x.dtype == dtype and x.min() == 0 and x.max() == most - 1
    x = np.asarray(rng.integers(-3, 3, 5000, endpoint=True))
    assert sorted(set(x.tolist())) == list(range(-3, 4))
    full = np.asarray(rng.integers(-(2**63), 2**63 - 1, 1000, endpoint=True))
    assert (full < 0).any() and (full > 0).any()
    x = np.asarray(rng.integers([1, 10], [2, 20], size=(1000, 2)))
    assert (x[:, 0] == 1).all() and x[:, 1].min() == 10 and x[:, 1].max() == 19
    counts = np.bincount(np.asarray(rng.integers(0, 3, 90_000)))
    assert abs(counts - 30_000).max() < 900
    assert len(rng.bytes(17)) == 17


@on_host
@pytest.mark.parametrize("draw", [un.random.bytes, un.random.default_rng(3).bytes])
def test_lengths_of_random_bytes(draw):
    assert [len(draw(n)) for n in (0, 5, True, 3.5, np.int8(4))] == [0, 5, 1, 3, 4]
    with pytest.raises(ValueError, match=r"bytes: length; got -1; expected 0 or more"):
        draw(-1)
    for wrong in ("3", None, [3]):
        with pytest.raises(TypeError, match=r"bytes: length; got .*; expected an integer"):
            draw(wrong)


@on_host
def test_shapes_and_out():
    rng = un.random.default_rng(2)
    assert (
        type(rng.random()) is float
        and rng.random((2, 3)).shape == (2, 3)
        and rng.random(0).shape == (0,)
    )
    assert rng.normal(un.zeros((3, 1)), un.ones(4)).shape == (3, 4)
    x = np.asarray(rng.normal([0, 100], [1, 1], size=(1000, 2)))
    assert abs(x.mean(axis=0) - [0, 100]).max() < 0.3
    out = un.zeros(5)
    assert rng.random(out=out) is out and 0 < float(out.min())
    assert rng.random(3, dtype="float32").dtype == "float32"
    assert float(rng.random(10**6, dtype="float32").max()) < 1


@on_host
def test_permutations():
    rng = un.random.default_rng(3)
    assert sorted(rng.permutation(1000).tolist()) == list(range(1000))
    x = un.arange(12).reshape(4, 3)
    rows = rng.permutation(x)
    assert sorted(rows.tolist()) == x.tolist()
    columns = np.asarray(rng.permutation(x, axis=1))
    assert sorted(columns.T.tolist()) == np.asarray(x).T.tolist()
    y = un.arange(50)
    rng.shuffle(y)
    assert y.tolist() != list(range(50)) and sorted(y.tolist()) == list(range(50))
    items = list("abcdefgh")
    rng.shuffle(items)
    assert sorted(items) == list("abcdefgh")
    lines = np.asarray(rng.permuted(un.arange(3000).reshape(3, 1000), axis=1))
    assert (np.sort(lines, axis=1) == np.arange(3000).reshape(3, 1000)).all()
    assert len({tuple((line - line.min()).tolist()) for line in lines}) == 3
    assert sorted(rng.permuted(x).reshape(-1).tolist()) == list(range(12))
    # Each order is equally likely.
    orders = rng.bit_generator, [tuple(rng.permutation(3).tolist()) for _ in range(6000)]
    counts = np.unique(np.array(orders[1]), axis=0, return_counts=True)[1]
    assert len(counts) == 6 and abs(counts - 1000).max() < 150


def test_permutation_of_a_number():
    with pytest.raises(np.exceptions.AxisError, match="permutation: axis 0 is out of bounds"):
        un.random.default_rng(0).permutation("abc")


@on_host
def test_choice():
    rng = un.random.default_rng(4)
    assert 0 <= int(rng.choice(5)) < 5
    x = np.asarray(rng.choice([10, 20, 30], 1000))
    assert set(x.tolist()) == {10, 20, 30}
    assert sorted(rng.choice(6, 6, replace=False).tolist()) == list(range(6))
    assert rng.choice(un.arange(12).reshape(4, 3), (2, 5), axis=1).shape == (4, 2, 5)
    p = [0.1, 0.0, 0.9]
    counts = np.bincount(np.asarray(rng.choice(3, 10_000, p=p)), minlength=3)
    assert counts[1] == 0 and abs(counts[0] - 1000) < 200
    once = rng.choice(3, 2, replace=False, p=p).tolist()
    assert sorted(once) == [0, 2]


def test_vectors():
    rng = un.random.default_rng(5)
    cov = np.array([[2.0, 0.8], [0.8, 1.0]])
    for method in ("svd", "eigh", "cholesky"):
        x = np.asarray(rng.multivariate_normal([1, 2], cov, 100_000, method=method))
        assert abs(x.mean(axis=0) - [1, 2]).max() < 0.03 and abs(np.cov(x.T) - cov).max() < 0.05
    d = np.asarray(rng.dirichlet([1, 2, 3], 50_000))
    assert (
        abs(d.sum(axis=1) - 1).max() < 1e-12
        and abs(d.mean(axis=0) - [1 / 6, 2 / 6, 3 / 6]).max() < 0.01
    )
    m = np.asarray(rng.multinomial(20, [0.2, 0.3, 0.5], 20_000))
    assert (m.sum(axis=1) == 20).all() and abs(m.mean(axis=0) - [4, 6, 10]).max() < 0.1
    h = np.asarray(rng.multivariate_hypergeometric([10, 20, 30], 12, 20_000))
    assert (h.sum(axis=1) == 12).all() and abs(h.mean(axis=0) - [2, 4, 6]).max() < 0.1


REFUSED = [
    lambda r: r.normal(0, -1), lambda r: r.exponential(-1), lambda r: r.gamma(-1), lambda r: r.beta(0, 1),
    lambda r: r.poisson(-1), lambda r: r.binomial(-1, 0.5), lambda r: r.binomial(5, 1.5), lambda r: r.geometric(0),
    lambda r: r.integers(5, 5), lambda r: r.integers(0, 300, dtype="uint8"), lambda r: r.choice(3, 4, replace=False),
    lambda r: r.choice(3, p=[0.5, 0.5]), lambda r: r.choice(2, p=[0.5, 0.6]), lambda r: r.zipf(1.0),
    lambda r: r.triangular(2, 1, 3), lambda r: r.hypergeometric(2, 2, 5), lambda r: r.dirichlet([0.0, -1.0]),
    lambda r: r.multinomial(5, [0.9, 0.9, 0.1]), lambda r: r.random(-1), lambda r: r.choice(0),
]  # fmt: skip


@pytest.mark.parametrize("call", REFUSED, ids=range(len(REFUSED)))
def test_refuses(call):
    for random in (np.random, un.random):
        with pytest.raises(ValueError):
            call(random.default_rng(0))


def test_refuses_types():
    for random in (np.random, un.random):
        with pytest.raises(TypeError, match="Unsupported dtype"):
            random.default_rng(0).random(3, dtype="int32")
        with pytest.raises(TypeError, match="Unsupported dtype"):
            random.default_rng(0).integers(3, dtype="float64")
    with pytest.raises(ValueError, match=r"normal: expected scale >= 0; got -1\.0"):
        un.random.default_rng(0).normal(0, -1)
    with pytest.raises(TypeError, match="Generator: expected a bit generator"):
        un.random.Generator(5)


@on_host
@pytest.mark.parametrize("seed", [0, 42, 2**32 - 1, [1, 2, 3], [5]], ids=str)
def test_random_state_gives_numpys_numbers(seed):
    def drawn(random):
        r = random.RandomState(seed)
        yield r.randint(0, 1024, 48)
        yield r.rand(3, 2)
        yield r.random_sample(700)
        yield r.randn(5)
        yield r.randint(5, size=(2, 3))
        yield r.randint(np.array([1, 5]), np.array([3, 10]))
        yield r.randint(0, 2**40, 7)
        yield r.randint(-5, 200, 9, dtype="int32")
        yield r.randint(0, 200, 9, dtype="uint8")
        yield r.uniform(-1, 3, 9)
        yield r.normal(2, 3, 7)
        yield r.exponential(2, 7)
        yield r.permutation(20)
        yield r.permutation([10, 20, 30, 40])
        yield r.choice(50, 9)
        yield r.choice(9, 5, replace=False)
        x = np.arange(30) if random is np.random else un.arange(30)
        r.shuffle(x)
        yield x
        yield r.standard_normal()
        yield r.random_sample()

    for ours, theirs in zip(drawn(un.random), drawn(np.random), strict=True):
        ours = np.asarray(ours)
        assert ours.dtype == np.asarray(theirs).dtype and ours.shape == np.shape(theirs)
        assert ours.tolist() == np.asarray(theirs).tolist()


def test_functions_of_the_module_after_seed():
    un.random.seed(0)
    np.random.seed(0)
    vertices = un.random.randint(0, 1024, 48).reshape(24, 2)
    assert vertices.tolist() == np.random.randint(0, 1024, 48).reshape(24, 2).tolist()
    assert un.random.rand(3).tolist() == np.random.rand(3).tolist()
    state = np.random.get_state()
    expected = np.random.randn(3).tolist()
    un.random.set_state(state)
    assert un.random.randn(3).tolist() == expected
    un.random.seed()
    assert un.random.rand(3).tolist() != un.random.rand(3).tolist()
    assert un.random.randint(3, size=5).shape == (5,) and un.random.randn(2, 2).shape == (2, 2)


@pytest.mark.parametrize("kind", ["PCG64", "MT19937"])
@pytest.mark.parametrize("seed", [0, 12345, [1, 2, 3]], ids=str)
def test_streams_give_numpys_numbers(kind, seed):
    def drawn(random):
        r = random.Generator(getattr(random, kind)(seed))
        yield r.random(100)
        yield r.integers(0, 1000, 50)
        yield r.integers(0, 2**50, 50)
        yield r.integers(0, 100, 9, dtype="int32")
        yield r.integers(0, 100, 9, dtype="uint8")
        yield r.random(5, dtype="float32")
        yield r.standard_normal(20_000)
        yield r.standard_exponential(20_000)
        yield r.uniform(1, 3, 5)
        yield r.normal(1, 3, 5)
        yield r.exponential(3, 5)
        yield r.permutation(40)
        yield r.random()

    for ours, theirs in zip(drawn(un.random), drawn(np.random), strict=True):
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
        np.testing.assert_array_equal(np.asarray(ours), theirs)


@pytest.mark.parametrize(
    "seed", [0, 5, 2**70, [1, 2, 3], "SeedSequence(7)", "SeedSequence(7).spawn(2)[1]"], ids=str
)
def test_default_generators_draw_numpys_numbers(seed):
    def drawn(m):
        given = eval(f"m.random.{seed}", {"m": m}) if isinstance(seed, str) else seed
        rng = m.random.default_rng(given)
        items = list(range(30))
        rng.shuffle(items)
        yield items
        yield rng.random((3, 4))
        yield rng.random()
        yield rng.integers(0, 100, 7)
        yield rng.integers(2**40)
        yield rng.standard_normal(10)
        yield rng.standard_normal()
        yield rng.normal(2.0, 0.5, (2, 3))
        yield rng.normal([0, 10], 1)
        yield rng.choice(5, 8)
        yield rng.choice([1.5, 2.5, 3.5], 4)
        yield rng.permutation(20)
        yield rng.permutation(np.arange(12).reshape(6, 2))
        yield rng.spawn(2)[1].random(3)
        yield rng.exponential(2.0, 5)

    for ours, theirs in zip(drawn(un), drawn(np), strict=True):
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


@pytest.mark.parametrize("kind", ["PCG64", "MT19937", "SFC64", "PCG64DXSM"])
def test_seed_sequences_of_numpy_are_seeds(kind):
    def drawn(m):
        sequence = np.random.SeedSequence(7, spawn_key=(3,))
        bits = getattr(m, kind)(sequence)
        assert bits.seed_seq is sequence
        first = m.Generator(bits).standard_normal(3)
        return [*first, *m.Generator(bits).spawn(2)[1].random(2), sequence.n_children_spawned]

    assert drawn(un.random) == drawn(np.random)
    if kind == "PCG64":
        seeds = (np.random.SeedSequence(7) for _ in range(2))
        ours, theirs = (
            m.random.default_rng(s).random() for m, s in zip((un, np), seeds, strict=True)
        )
        assert ours == theirs


@pytest.mark.parametrize("kind", ["PCG64", "MT19937", "RandomState"])
def test_choice_without_replacement_is_numpys(kind):
    old = kind == "RandomState"
    ours, theirs = (
        m.RandomState(3) if old else m.Generator(getattr(m, kind)(3))
        for m in (un.random, np.random)
    )
    for pool, n in (
        (1, 1),
        (9, 9),
        (100, 3),
        (10_000, 9000),
        (30_000, 20),
        (30_000, 700),
        (30_000, 2000),
        (9, 0),
    ):
        for shuffle in (True,) if old else (True, False):
            how = {} if old else {"shuffle": shuffle}
            a, b = (g.choice(pool, n, replace=False, **how) for g in (ours, theirs))
            assert np.array_equal(np.asarray(a), b), (pool, n, shuffle)
    if not old:
        assert int(ours.choice(2**40, replace=False)) == int(theirs.choice(2**40, replace=False))
        assert (
            ours.choice([5, 6, 7], (1, 2), replace=False).tolist()
            == theirs.choice([5, 6, 7], (1, 2), replace=False).tolist()
        )
    assert ours.random() == theirs.random()


def test_choice_without_replacement_does_not_import_numpy():
    program = "import sys, unisono as un; un.random.default_rng(1).choice(9, 3, replace=False); un.random.choice(9, 3, replace=False); print('numpy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == "False\n", ran.stderr


# Every method that takes a size, with parameters that are numbers, arrays and lists.
DRAWN = [
    ("gamma", (2.0, 3)), ("gamma", ([0.5, 4.0],)), ("standard_gamma", (0.3, 4)), ("beta", (1, [2, 3])), ("chisquare", (3, 2)),
    ("noncentral_chisquare", (3, 1, 2)), ("f", (2, 3, 2)), ("standard_t", (3, 2)), ("standard_cauchy", (3,)),
    ("laplace", ()), ("logistic", (0, 1, 2)), ("gumbel", (1, 2)), ("lognormal", (0, 1, (2, 2))), ("rayleigh", (2, 3)),
    ("weibull", (2, 3)), ("pareto", (3, 3)), ("power", (3, 3)), ("triangular", (0, 1, 3, 4)), ("vonmises", (0, 2, 3)),
    ("wald", (1, 2, 3)), ("poisson", ([1.0, 30.0, 1000.0],)), ("poisson", ()), ("binomial", ([5, 1000], 0.4)),
    ("negative_binomial", (3, 0.4, 3)), ("geometric", (0.2, 3)), ("hypergeometric", (5, 6, 7, 3)), ("logseries", (0.4, 3)),
    ("zipf", (2.0, 3)), ("normal", ([0.0, 5.0], [1, 2])), ("uniform", ([0.0, 5.0], 9)), ("exponential", ([1.0, 2.0],)),
    ("choice", (100, 5, False)), ("choice", (10, (2, 3), False, [0.1] * 10)), ("choice", (10, 4, True, [0.1] * 10)),
    ("choice", (["a", "b"], 3)), ("dirichlet", ([0.01, 2.0], 3)), ("multinomial", (5, [0.2, 0.3, 0.5], 2)),
    ("multivariate_normal", ([0, 1], [[2, 1], [1, 2.0]], 3)), ("permutation", (9,)),
]  # fmt: skip
DRAWN_BY_GENERATORS = [
    ("standard_normal", (5, "float32")), ("standard_exponential", (4, "f4")), ("standard_gamma", (2.0, 3, "float32")),
    ("random", (5, "f4")), ("integers", ([0, 7], [5, 90])), ("integers", ([5, 9], None, 2, "uint8")),
    ("multinomial", ([5, 6], [0.2, 0.3, 0.5])), ("multivariate_hypergeometric", ([4, 5, 6], 7, 2)), ("noncentral_f", (3, 4, 2, 2)), ("permuted", ([[1, 2, 3]],)),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["PCG64", "MT19937", "RandomState"])
def test_all_distributions_give_numpys_numbers(kind):
    """One after the other, so that the stream is where NumPy's is behind each."""
    old = kind == "RandomState"
    ours, theirs = (
        m.RandomState(11) if old else m.Generator(getattr(m, kind)(11))
        for m in (un.random, np.random)
    )
    for name, arguments in DRAWN + ([] if old else DRAWN_BY_GENERATORS):
        a, b = getattr(ours, name)(*arguments), getattr(theirs, name)(*arguments)
        assert np.asarray(a).dtype == np.asarray(b).dtype, name
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b), err_msg=name)
        assert np.ndim(b) > 0 or np.isscalar(a), name
        assert ours.normal() == theirs.normal() and (old or ours.random() == theirs.random()), name


def test_numpys_generators_draw_from_our_streams():
    bits = un.random.PCG64(3)
    made = np.random.Generator(bits).gamma(2.0, 1.0, 4)
    expected = np.random.default_rng(3)
    assert made.tolist() == expected.gamma(2.0, 1.0, 4).tolist()
    assert un.random.Generator(bits).random() == expected.random()
    again = pickle.loads(pickle.dumps(un.random.Generator(bits)))
    assert again.poisson(4.0, 3).tolist() == expected.poisson(4.0, 3).tolist()
    with pytest.raises(AttributeError, match="Philox: NumPy and compiled code cannot draw from it"):
        np.random.Generator(un.random.Philox(3))


@pytest.mark.parametrize("kind", ["PCG64", "MT19937"])
@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        *((t, np.iinfo(t).min, np.iinfo(t).max) for t in ("uint8", "int16", "uint32", "int32")),
        *((t, np.iinfo(t).min, np.iinfo(t).max) for t in ("uint64", "int64")),
        ("int64", -5, 94),
        ("uint32", 0, 3_000_000_000),  # three of ten numbers are rejected
        ("int64", 7, 7 + 3_000_000_000),
        ("int64", 0, 2**32 - 1),
        ("int64", 0, 3 * 2**61),
    ],
)
def test_integers_of_every_span_are_numpys_for_any_count(kind, dtype, low, high):
    for count in (1, 2, 3, 5, 255, 257, 70_001, 140_000):
        ours = un.random.Generator(getattr(un.random, kind)(9))
        theirs = np.random.Generator(getattr(np.random, kind)(9))
        for _ in range(2):  # an odd count leaves half of a word for the next draw
            got = ours.integers(low, high, count, dtype=dtype, endpoint=True)
            expected = theirs.integers(low, high, count, dtype=dtype, endpoint=True)
            np.testing.assert_array_equal(np.asarray(got), expected)
            if kind == "PCG64":
                assert ours.bit_generator.state == theirs.bit_generator.state
        assert int(ours.integers(10)) == theirs.integers(10) and ours.random() == theirs.random()


@on_host
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
@pytest.mark.parametrize("span", [1, 2, 3, 100, 128, 200, 255, 256, 40_000, 65_536])
def test_narrow_integers_are_numpys_for_any_count(span, dtype):
    low = np.iinfo(dtype).min
    if low + span - 1 > np.iinfo(dtype).max:
        return
    for count in [*range(9), 1001]:
        ours, theirs = un.random.default_rng(9), np.random.default_rng(9)
        old, numpys_old = un.random.RandomState(9), np.random.RandomState(9)
        for _ in range(2):
            got = ours.integers(low, low + span, count, dtype=dtype)
            assert np.array_equal(got, theirs.integers(low, low + span, count, dtype=dtype))
            got = old.randint(low, low + span, count, dtype=dtype)
            assert np.array_equal(got, numpys_old.randint(low, low + span, count, dtype=dtype))
        assert ours.random() == theirs.random() and old.random() == numpys_old.random()


def test_default_generators_take_other_streams():
    assert repr(un.random.default_rng(5)) == "Generator(PCG64)"
    assert repr(un.random.default_rng()) == "Generator(PCG64)"
    assert repr(un.random.default_rng(un.random.Philox(5))) == "Generator(Philox)"


@pytest.mark.parametrize("count", [1, 2, 8191, 8192, 8193, 100_001])
def test_threads_that_jump_ahead_draw_the_same_stream(count):
    ours, theirs = (m.random.Generator(m.random.PCG64(9)) for m in (un, np))
    for dtype in ("float64", "float32", "float32", "float64"):  # an odd count leaves half a step
        for draw in (
            lambda g, dtype=dtype: g.random(count, dtype=dtype),
            lambda g: g.uniform(-1, 2, count),
            lambda g: g.integers(0, 1000, 3),
        ):
            np.testing.assert_array_equal(np.asarray(draw(ours)), draw(theirs))
    assert ours.bit_generator.state == theirs.bit_generator.state


@pytest.mark.parametrize("kind", ["PCG64", "MT19937", "Philox"])
def test_states_go_back(kind):
    r = un.random.Generator(getattr(un.random, kind)(3))
    r.random(5)
    state = r.bit_generator.state
    x = r.random(5).tolist()
    r.bit_generator.state = state
    assert r.random(5).tolist() == x
    assert abs(float(r.gamma(2, size=1000).sum()) / 1000 - 2) < 0.5
    assert len({float(g.random()) for g in r.spawn(3)}) == 3


def test_old_seeds_are_checked():
    for random in (np.random, un.random):
        with pytest.raises(ValueError, match="Seed must be between"):
            random.RandomState(-1)
        with pytest.raises(ValueError, match="Seed must be between"):
            random.RandomState(2**32)
        with pytest.raises(ValueError, match="low >= high"):
            random.RandomState(0).randint(5, 5)


@pytest.mark.parametrize(
    "good, bad, sample",
    [(5000, 3000, 2500), (3000, 9000, 8000), (2**40, 2**40, 2**40), (7, 10**6, 10**5)],
)
def test_hypergeometric_numbers_of_many_draws(good, bad, sample):
    rng = un.random.Generator(un.random.Philox(3))
    drawn = np.asarray(rng.hypergeometric(good, bad, sample, 20_000)).astype(float)
    all_ = good + bad
    mean = sample * good / all_
    variance = mean * (bad / all_) * (all_ - sample) / (all_ - 1)
    assert abs(drawn.mean() - mean) < 5 * np.sqrt(variance / 20_000)
    assert abs(drawn.var() / variance - 1) < 0.06


def test_extreme_parameters_end():
    rng = un.random.default_rng(3)
    assert (rng.zipf(10_000, 8) == 1).all() and (rng.zipf(1024, 8) == 1).all()
    assert (rng.geometric(1e-30, 8) > 2**62).all()


@on_host
def test_the_shared_generator_by_numpys_name():
    un.random.seed(3)
    np.random.seed(3)
    assert (
        un.random.mtrand._rand.random_sample(2).tolist()
        == np.random.mtrand._rand.random_sample(2).tolist()
    )
    assert (
        un.random.rand() == np.random.rand()
        and un.random.mtrand.RandomState is un.random.RandomState
    )
    with pytest.raises(AttributeError, match="mtrand"):
        un.random.mtrand.nothing  # noqa: B018


@on_host
def test_classes_of_generators():
    class Mine(un.random.Generator):
        pass

    old, new = un.random.RandomState(1), un.random.default_rng(1)
    assert isinstance(old, np.random.RandomState) and not isinstance(old, np.random.Generator)
    assert isinstance(new, np.random.Generator) and isinstance(new, un.random.Generator)
    assert isinstance(new.bit_generator, np.random.PCG64)
    mine = Mine(un.random.PCG64(1))
    assert mine.__class__ is Mine and not isinstance(mine, np.random.Generator)
    for rng in (old, new, mine, un.random.Generator(un.random.Philox(3))):
        rng.random(3)
        pickled = [] if rng is mine else [pickle.loads(pickle.dumps(rng))]
        for again in [*pickled, copy.copy(rng), copy.deepcopy(rng)]:
            assert type(again) is type(rng)
            assert copy.deepcopy(again).random(5).tolist() == copy.deepcopy(rng).random(5).tolist()


@on_host
@pytest.mark.parametrize("old", [False, True])
def test_choices_of_objects(old):
    things = [len, print, {"a": 1}, None]
    ours, numpys = (P.random.RandomState(3) if old else P.random.default_rng(3) for P in (un, np))
    for _ in range(4):
        assert ours.choice(things) is numpys.choice(things)
        assert ours.choice(things, p=[0.1, 0.2, 0.3, 0.4]) is numpys.choice(
            things, p=[0.1, 0.2, 0.3, 0.4]
        )
        assert ours.choice(things, (2, 3)).tolist() == numpys.choice(things, (2, 3)).tolist()
        assert ours.choice(things, 2, False).tolist() == numpys.choice(things, 2, False).tolist()
        assert list(ours.permutation(things)) == list(numpys.permutation(things))


@pytest.mark.parametrize("xp", [np, un])
def test_the_old_generator_is_no_new_one(xp):
    old, new = xp.random.RandomState(3), xp.random.default_rng(3)
    assert not isinstance(old, xp.random.Generator) and not isinstance(new, xp.random.RandomState)
    # Libraries ask for these names to tell them apart.
    assert (
        not hasattr(old, "integers") and not hasattr(old, "spawn") and not hasattr(new, "randint")
    )
    assert repr(new).startswith("Generator(PCG64)")


def test_a_new_generator_draws_on_from_an_old_one():
    streams = [xp.random.default_rng(xp.random.RandomState(3)).random(3) for xp in (np, un)]
    assert np.array_equal(*map(np.asarray, streams))


@pytest.mark.parametrize("xp", [np, un])
def test_chances_that_are_no_numbers(xp):
    with pytest.raises(ValueError, match="probabilities contain NaN|Probabilities contain NaN"):
        xp.random.RandomState(0).choice(2, p=[float("nan"), 1.0])


@pytest.mark.parametrize("name", ["Generator", "RandomState"])
def test_generators_of_numpy_are_instances(name):
    ours, theirs = getattr(un.random, name), getattr(np.random, name)
    made = theirs(np.random.MT19937(3))
    assert isinstance(made, ours) and not isinstance(3, ours)
    other = np.random.RandomState(1) if name == "Generator" else np.random.default_rng(1)
    assert not isinstance(other, ours)

    class Derived(ours):
        pass

    assert not isinstance(made, Derived)
    # It draws on from where it is.
    expected = np.random.default_rng(theirs(np.random.MT19937(3))).random(3)
    np.testing.assert_array_equal(un.random.default_rng(made).random(3), expected)


@pytest.mark.parametrize(
    "drawn",
    [
        "P.random.default_rng(1).integers(0, 2, (5, 17), dtype=bool)", "P.asarray(P.random.default_rng(1).integers(0, 2, dtype=bool))",
        "P.random.RandomState(1).randint(0, 2, 70, dtype=bool)", "P.random.RandomState(1).randint(1, 2, 3, dtype=bool)",
        "(lambda r: (r.integers(0, 2, 35, dtype=bool), r.integers(0, 9, 3)))(P.random.default_rng(1))[1]",
        "P.random.RandomState(P.arange(10)).rand(2)", "P.random.RandomState(P.array([5])).rand(2)",
        "P.random.default_rng(P.arange(3)).random(2)", "P.random.SeedSequence(7).generate_state(3)",
        "P.random.PCG64(3).random_raw(4)", "P.random.MT19937(3).random_raw((2, 2))", "P.random.PCG64(1).jumped(3).random_raw(2)",
        "P.random.PCG64(1).advance(10**20).random_raw(2)", "P.random.MT19937(1).jumped().random_raw(2)",
        "P.random.Generator(P.random.PCG64(4).jumped()).standard_normal(3)", "P.random.default_rng(P.random.SFC64(1)).random(2)",
        "P.random.Generator(P.random.PCG64DXSM(1)).random(2)", "P.random.default_rng(1).random(out=P.zeros((2, 3), order='F', device='cpu'))",
        "P.random.RandomState(3).get_state(legacy=False)['state']['key'][:3]",
        "(lambda r: (r.set_state(np.random.RandomState(4).get_state(legacy=False)), r.rand(2)))(P.random.RandomState(3))[1]",
    ],
)  # fmt: skip
def test_drawn_as_by_numpy(drawn):
    numpys, ours = (eval(drawn, {"P": P, "np": np}) for P in (np, un))
    assert ours.tolist() == numpys.tolist() and ours.dtype == numpys.dtype


def test_raw_numbers_one_at_a_time():
    for kind in ("PCG64", "MT19937"):
        ours, numpys = (getattr(P.random, kind)(9) for P in (un, np))
        assert ours.random_raw(output=False) is None and numpys.random_raw(output=False) is None
        assert (
            type(ours.random_raw()) is int
            and ours.random_raw(2).tolist()[0] == numpys.random_raw(3).tolist()[1]
        )


def test_seeds_that_are_none():
    for seed in (-0.5, [-0.5]):
        with pytest.raises(TypeError, match="seed: expected integers"):
            un.random.RandomState(seed)
    with pytest.raises(ValueError, match="non-empty"):
        un.random.RandomState(un.zeros(0, int))
    with pytest.raises(ValueError, match="a must be 1-dimensional"):
        un.random.RandomState(1).choice([[1, 2], [3, 4]], 3)


NUMBERS = {
    "gamma": (2.0, 3.0), "normal": (0.0, 1.0), "uniform": (0.0, 1.0), "exponential": (2.0,), "beta": (2.0, 3.0),
    "poisson": (3.0,), "binomial": (10, 0.3), "standard_t": (3.0,), "rayleigh": (2.0,), "geometric": (0.3,),
    "random": (), "standard_normal": (), "standard_exponential": (), "choice": (5,),
}  # fmt: skip


@on_host
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_pythons_and_adapt_to_arrays(name):
    """What is drawn without a size is a float or an int in NumPy, also of parameters that are values."""
    parameters = NUMBERS[name]
    for ours, theirs in (
        (un.random.default_rng(3), np.random.default_rng(3)),
        (un.random.RandomState(3), np.random.RandomState(3)),
    ):
        expected = getattr(theirs, name)(*parameters)
        drawn = getattr(ours, name)(*parameters)
        assert type(drawn) is type(expected) in (int, float) and drawn == pytest.approx(expected)
        x = un.ones(2, "float32")
        assert (x * drawn).dtype == "float32"
        values = [un.float32(p) if isinstance(p, float) else un.asarray(p)[()] for p in parameters]
        assert type(getattr(ours, name)(*values)) is type(expected)
    old = un.random.RandomState(3)
    assert type(old.rand()) is float and old.randint(5, dtype="int8").dtype == "int8"
    assert type(old.randint(5)) is int and un.random.default_rng(3).integers(5).dtype == "int64"
    assert type(un.random.Generator(un.random.Philox(1)).normal()) is float
