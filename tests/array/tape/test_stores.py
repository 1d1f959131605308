"""Large results: stored through the caches or past them, as the first runs of a kernel show to be faster."""

import numpy as np
import pytest
import unisono as un

SHAPE = (700, 1000)  # 5.6 MB of results: both kinds of stores are timed


@pytest.fixture(autouse=True)
def settings_afterwards():
    un._engine._set_setting("executor", "cpu")
    yield
    un._engine._set_setting("executor", "auto")
    un._engine._set_setting("stores", "time")


def sweep(u, v):
    v[1:-1, 1:-1] = ((u[:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, :-2] + u[1:-1, 2:])) / 5


def how(x):
    """What the explanation says of the stores of the last run."""
    lines = [k for k in un.explain(x).splitlines() if "results are stored" in k]
    return lines[0].split("are stored ")[1] if lines else ""


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
@pytest.mark.parametrize("stores", ["time", "size", "through", "past"])
def test_bits_do_not_depend_on_the_kind_of_stores(stores, dtype):
    un._engine._set_setting("stores", stores)
    a, b = np.random.default_rng(1).integers(0, 99, (2, 1500, 2001)).astype(dtype)
    x, y = un.asarray(a), un.asarray(b)
    for _ in range(14):
        made = x[:, 1:] * y[:, 1:] + x[:, :-1]
        un.eval(made)
        assert np.array_equal(np.asarray(made), a[:, 1:] * b[:, 1:] + a[:, :-1])


@pytest.mark.parametrize(("stores", "text"), [("through", "through the"), ("past", "past the")])
def test_a_setting_decides(stores, text):
    un._engine._set_setting("stores", stores)
    u, v = un.ones(SHAPE), un.zeros(SHAPE)
    for _ in range(14):
        sweep(u, v)
        un.eval(v)
    sweep(u, v)
    assert how(v) == f"{text} caches (not timed yet)"


def test_the_first_runs_are_timed_and_the_explanation_says_so():
    host = np.random.default_rng(2).random(SHAPE)
    u, v = un.asarray(host), un.zeros(SHAPE)
    for _ in range(13):
        sweep(u, v)
        un.eval(v)
    sweep(u, v)
    text = how(v)
    assert "through the caches" in text and "past the caches" in text
    assert "fastest run" in text and "not timed" not in text
    wanted = np.zeros(SHAPE)
    sweep(host, wanted)
    assert np.array_equal(np.asarray(v), wanted)


def test_small_results_and_updates_in_place_have_one_kind_of_stores():
    small, large = un.ones((100, 100)), un.ones(SHAPE)
    for _ in range(3):
        un.eval(small * 3.5)
        large += 2.5
        un.eval(large)
    large += 2.5
    assert how(large) == "" and how(small * 3.5) == ""


def test_a_setting_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match="UNISONO_STORES: .*; got 'fast'; expected time, size,"):
        un._engine._set_setting("stores", "fast")
