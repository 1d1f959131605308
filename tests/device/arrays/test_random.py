"""Random numbers on every device: those of the host's counter-based generator."""

import numpy as np
import pytest
import unisono as un
from device_arrays import same

# Parameters on both sides of the limits between algorithms.
DISTRIBUTIONS = {
    "uniform": [(-1.0, 3.0)],
    "normal": [(1.0, 2.0)],
    "exponential": [(2.0,)],
    "gamma": [(0.3, 2.0), (1.0, 1.0), (4.5, 1.0)],
    "beta": [(0.4, 0.5), (2.0, 3.0)],
    "chisquare": [(3.0,)],
    "noncentral_chisquare": [(3.0, 2.0), (0.5, 30.0), (2.0, 0.0)],
    "f": [(3.0, 5.0)],
    "noncentral_f": [(3.0, 5.0, 2.0)],
    "standard_t": [(3.0,)],
    "standard_cauchy": [()],
    "laplace": [(1.0, 2.0)],
    "logistic": [(1.0, 2.0)],
    "gumbel": [(1.0, 2.0)],
    "lognormal": [(0.5, 0.7)],
    "rayleigh": [(2.0,)],
    "weibull": [(1.5,), (0.0,)],
    "pareto": [(3.0,)],
    "power": [(3.0,)],
    "triangular": [(-1.0, 0.5, 2.0)],
    "vonmises": [(1.0, 2.0), (1.0, 1e-9), (50.0, 1e-6)],
    "wald": [(1.0, 2.0)],
    "poisson": [(0.0,), (3.0,), (50.0,)],
    "binomial": [(10, 0.0), (10, 0.3), (10, 0.7), (100, 0.4)],
    "negative_binomial": [(4.0, 0.3), (3.0, 1.0)],
    "geometric": [(0.2,), (1.0,)],
    "hypergeometric": [(20, 30, 15), (9000, 8000, 5000), (30, 20, 45)],
    "logseries": [(0.6,)],
    "zipf": [(2.5,), (2000.0,)],
}


def generator(seed=5):
    return un.random.Generator(un.random.Philox(seed))


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 70_001])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_uniform_bits(device, n, dtype):
    far, near = generator(), generator()
    for _ in range(2):  # the second time from an odd element on
        made = far.random(n, dtype, device=device)
        assert made.device == device
        same(made, near.random(n, dtype, device="cpu"))
    same(far.uniform(-2, 5, n, device=device), near.uniform(-2, 5, n, device="cpu"))


@pytest.mark.parametrize("dtype", "bool int8 uint8 int16 uint32 int64 uint64".split())
def test_integers(device, dtype):
    far, near = generator(), generator()
    least, most = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for low, high in [(least, most), (max(least, -1), 1), (0, most // 3 * 2)]:
        made = far.integers(low, high, 999, dtype, endpoint=True, device=device)
        assert made.device == device
        same(made, near.integers(low, high, 999, dtype, endpoint=True, device="cpu"))


def test_integers_of_arrays(device):
    low, high = np.arange(-5, 95), np.arange(100) ** 3 * 10**10 + 9
    got = generator().integers(
        un.asarray(low, device=device), un.asarray(high, device=device), (3, 100)
    )
    assert got.device == device
    same(got, generator().integers(low, high, (3, 100)))
    got = generator().integers(un.asarray(high, device=device), dtype="uint64", endpoint=True)
    assert got.device == device
    same(got, generator().integers(high, dtype="uint64", endpoint=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(device, name):
    """Functions of a device may differ from the host's in the last bit, and numbers with them."""
    for parameters in DISTRIBUTIONS[name]:
        far, near = generator(), generator()
        got = getattr(far, name)(*parameters, 2001, device=device)
        expected = np.asarray(getattr(near, name)(*parameters, 2001, device="cpu"))
        assert got.device == device and got.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-11, atol=1e-13)


def test_parameters_in_arrays(device):
    """An array tells the device; the others are broadcast to it."""
    loc, scale = np.arange(40.0).reshape(8, 5), np.linspace(0.5, 2, 5)
    x, y = un.asarray(loc, device=device), un.asarray(scale, device=device)
    got = generator().normal(x, y)
    assert got.device == device
    expected = np.asarray(generator().normal(loc, scale))
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-11)
    same(generator().uniform(x, 50.0), generator().uniform(loc, 50.0))
    for name, others in {"triangular": (45.0, 50.0), "hypergeometric": (9, 7)}.items():
        got = getattr(generator(), name)(x, *others)
        assert got.device == device
        expected = np.asarray(getattr(generator(), name)(loc, *others))
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-11)
    single = np.asarray(generator().standard_normal((2, 9), "float32", device=device))
    expected = np.asarray(generator().standard_normal((2, 9), "float32"))
    np.testing.assert_allclose(single, expected, rtol=1e-6)
    assert single.dtype == np.float32


def test_default_device(device):
    with un.device(device):
        assert generator().random(5).device == device
        assert generator().integers(5, size=5).device == device
        assert generator().permutation(5).device == device
    out = un.zeros(100, device=device)
    generator().random(out=out)
    same(out, generator().random(100))


def test_orders(device):
    a = np.arange(60.0).reshape(20, 3)
    x, y = un.asarray(a, device=device), un.asarray(a)
    for axis in (0, 1):
        same(generator().permutation(x, axis), generator().permutation(y, axis))
        same(generator().permuted(x, axis=axis), generator().permuted(y, axis=axis))
    same(generator().permuted(x), generator().permuted(y))
    same(generator().permutation(1000, device=device), generator().permutation(1000))
    far, near = generator(), generator()
    far.shuffle(x)
    near.shuffle(y)
    same(x, y)
    assert sorted(np.asarray(x)[:, 0]) == sorted(a[:, 0])


def test_choice(device):
    a = np.arange(50.0)
    x = un.asarray(a, device=device)
    p = np.linspace(0, 1, 50) / np.linspace(0, 1, 50).sum()
    for arguments in ({}, {"replace": False}, {"p": p}):
        got = generator().choice(x, (4, 5), **arguments)
        assert got.device == device
        same(got, generator().choice(a, (4, 5), **arguments))
    same(generator().choice(9, 20, device=device), generator().choice(9, 20))


def test_other_generators_draw_on_the_host(device):
    if device == "cpu":
        assert un.random.default_rng(1).random(3, device=device).shape == (3,)
        return
    for draw in (
        lambda g: g.random(3, device=device),
        lambda g: g.normal(size=3, device=device),
        lambda g: g.gamma(2.0, size=3, device=device),
        lambda g: g.integers(9, size=3, device=device),
        lambda g: g.permutation(un.ones(3, device=device)),
    ):
        with pytest.raises(un.UnsupportedError, match="PCG64 draws one number after the other"):
            draw(un.random.default_rng(1))


def test_old_functions_take_devices_without_a_seed_and_refuse_them_with_one(device):
    if device == "cpu":
        pytest.skip("is refused nowhere")
    for name, parameters in (
        ("normal", (1.0, 2.0)),
        ("exponential", (2.0,)),
        ("standard_normal", ()),
    ):
        draw = getattr(un.random.RandomState(), name)
        assert draw(*parameters, size=5, device=device).device == device
        assert draw(*parameters, size=5).device == "cpu"
        with pytest.raises(un.UnsupportedError, match="MT19937 draws one number after the other"):
            getattr(un.random.RandomState(3), name)(*parameters, size=5, device=device)
