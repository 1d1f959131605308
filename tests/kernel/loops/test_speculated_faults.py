"""Loops whose iterations may raise run in strips ahead: results, exceptions and stores are those of the loop as written."""

import math

import numpy as np
import pytest
import unisono as un

SIZES = [0, 1, 65, 129, 255, 256, 257, 320, 1003]
RNG = np.random.default_rng(5)


def positions(n):
    return sorted({k for k in (0, 1, 63, 64, 130, 256, n - 1) if 0 <= k < n})


def store(x, out):
    for i in range(len(x)):
        out[i] = math.exp(x[i]) * math.sin(x[i])


def store_in_parallel(x, out):
    for i in un.prange(len(x)):
        out[i] = math.exp(x[i]) * math.sin(x[i])


def one(x):
    return math.exp(x) * math.sin(x)


@pytest.mark.parametrize("function", [store, store_in_parallel])
@pytest.mark.parametrize("n", SIZES)
def test_elements_have_the_bits_of_single_calls(function, n):
    x = RNG.normal(size=n)
    x[n // 2 :] *= 1e9 if n < 10 else 1.0
    x = np.minimum(x, 700)
    out = np.zeros(n)
    un.jit(function)(x, out)
    single = un.jit(one)
    assert np.array_equal(out, [single(v) for v in x])


@pytest.mark.parametrize("n", SIZES[1:])
def test_what_raises_leaves_the_stores_before_it(n):
    f = un.jit(store)
    single = un.jit(one)
    for k in positions(n):
        x = RNG.normal(size=n)
        x[k] = 800.0
        out = np.full(n, -7.0)
        with pytest.raises(OverflowError, match="math range error"):
            f(x, out)
        assert np.array_equal(out[:k], [single(v) for v in x[:k]])
        assert (out[k:] == -7.0).all()


@pytest.mark.parametrize("n", SIZES[1:])
def test_the_lowest_iteration_of_a_parallel_loop_raises(n):
    def f(x, out):
        for i in un.prange(len(x)):
            if x[i] < 0.0:
                raise ValueError("below zero")
            out[i] = math.exp(x[i])

    def nested(x, out):
        for k in un.prange(4):
            for i in un.prange(len(x)):
                if x[i] < 0.0:
                    raise ValueError("below zero")
                out[k, i] = math.exp(x[i])

    compiled, compiled_nested = un.jit(f), un.jit(nested)
    for k in positions(n):
        x = RNG.random(n)
        x[k], x[k + 1 :: 7] = -1.0, 900.0
        out = np.full(n, -7.0)
        with pytest.raises(ValueError, match="below zero"):
            compiled(x, out)
        assert (out[:k] > 0).all()
        with pytest.raises(ValueError, match="below zero"):
            compiled_nested(x, np.zeros((4, n)))
        x[k] = 900.0
        x[k + 1 :: 7] = -1.0
        with pytest.raises(OverflowError):
            compiled(x, out)


def test_handlers_see_the_sums_of_the_iterations_before():
    def f(x):
        s = 1.0
        count = 0
        try:
            for i in range(len(x)):
                if x[i] > 0.5:
                    count += 1
                    s -= math.exp(x[i])
                s += 0.0
        except OverflowError:
            return s, count, True
        return s, count, False

    def g(x):
        s = -0.0
        try:
            for v in x:
                if v != 0.25:
                    s += math.log(v)
        except ValueError:
            return s, True
        return s, False

    for python in (f, g):
        compiled = un.jit(python)
        single = un.jit(math_log), un.jit(math_exp)
        for n in SIZES:
            for k in [None, *positions(n)]:
                x = RNG.random(n)
                x[n // 3 : n // 2] = 0.25
                if k is not None:
                    x[k] = 1000.0 if python is f else -1.0
                got = compiled(x)
                want = reference(python, x, *single)
                assert got == want
                assert math.copysign(1.0, got[0]) == math.copysign(1.0, want[0])


def math_log(v):
    return math.log(v)


def math_exp(v):
    return math.exp(v)


def reference(python, x, log, exp):
    """What Python makes of it with our logarithm and exponential function."""
    s, count = (1.0, 0) if python.__name__ == "f" else (-0.0, 0)
    try:
        for v in x.tolist():
            if python.__name__ == "f" and v > 0.5:
                count += 1
                s -= exp(v)
            elif python.__name__ == "g" and v != 0.25:
                s += log(v)
            s += 0.0 if python.__name__ == "f" else -0.0
    except (OverflowError, ValueError):
        return (s, count, True) if python.__name__ == "f" else (s, True)
    return (s, count, False) if python.__name__ == "f" else (s, False)


def test_iterations_that_meet_run_one_after_the_other():
    def shifted(x, out):
        for i in range(len(x)):
            out[i] = math.exp(-x[i])

    def both(x):
        for i in range(1, len(x)):
            x[i] = math.sqrt(x[i - 1]) + x[i]

    def reads_what_it_stored(x, y):
        for i in range(len(x)):
            y[i] = math.exp(-x[i])
            x[i] = y[i] * 2.0

    exp = un.jit(math_exp)
    f = un.jit(shifted)
    memory = RNG.random(300)
    want = memory.copy()
    for i in range(299):
        want[i + 1] = exp(-want[i])
    f(memory[:-1], memory[1:])
    assert np.array_equal(memory, want)
    f(memory, memory)
    assert np.array_equal(memory, [exp(-v) for v in want])

    x = RNG.random(300)
    want = x.copy()
    both(want)
    un.jit(both)(x)
    assert np.array_equal(x, want)

    x = RNG.random(300)
    want = x.copy()
    for i in range(300):
        want[i] = exp(-want[i]) * 2.0
    un.jit(reads_what_it_stored)(x, x)
    assert np.array_equal(x, want)


def test_called_functions_and_conditional_stores():
    @un.jit
    def inner(v):
        if v < -3.0:
            return 0.0
        if v > 3.0:
            raise ValueError("too far")
        return math.exp(-0.5 * v * v)

    @un.jit
    def density(v):
        if v == 0.125:
            return -1.0
        return inner(v) * 2.0 if v < 2.0 else inner(v)

    @un.jit
    def f(x, out, more):
        for i in range(len(x)):
            d = density(x[i])
            if d > 1.0:
                out[i] = d
            else:
                more[i] = -d
                out[len(x) - 1 - i + len(x)] = math.sqrt(d * d)

    for n in SIZES:
        for k in [None, *positions(n)]:
            x = np.clip(RNG.normal(size=n) * 2, -4, 2.9)
            x[n // 3 : n // 2] = 0.125
            if k is not None:
                x[k] = 3.5
            out, more = np.full(2 * n, 9.0), np.full(n, 9.0)
            want_out, want_more = out.copy(), more.copy()
            is_raised = False
            for i in range(n):
                try:
                    d = density(x[i])
                except ValueError:
                    is_raised = True
                    break
                if d > 1.0:
                    want_out[i] = d
                else:
                    want_more[i] = -d
                    want_out[2 * n - 1 - i] = math.sqrt(d * d)
            if is_raised:
                with pytest.raises(ValueError, match="too far"):
                    f(x, out, more)
            else:
                f(x, out, more)
            assert np.array_equal(out, want_out)
            assert np.array_equal(more, want_more)


def test_what_raises_protects_the_loads_behind_it():
    @un.jit
    def f(k, table, x, out):
        for i in range(len(k)):
            if k[i] >= len(table) or k[i] < 0:
                raise ValueError("no such entry")
            out[i] = table[k[i]] * math.exp(x[i])

    k = np.arange(500) % 10
    k[333] = 10**12
    out = np.zeros(500)
    with pytest.raises(ValueError, match="no such entry"):
        f(k, np.ones(10), np.ones(500), out)
    assert (out[:333] > 2).all()
    assert (out[333:] == 0).all()
    with pytest.raises(IndexError):
        f(k % 10, np.ones(10), np.ones(400), out)


@pytest.mark.parametrize("dtype", ["float32", "int64", "int32", "uint8", "bool", "complex128"])
def test_dtypes_that_are_stored(dtype):
    @un.jit
    def f(x, out):
        for i in range(len(x)):
            out[2 * i] = math.log(x[i]) * 10.0
            out[2 * i + 1] = x[i]

    x = RNG.random(300) * 50 + 1
    log = un.jit(math_log)
    out = np.zeros(600, dtype)
    f(x, out)
    want = np.zeros(600, dtype)
    want[::2] = [log(v) * 10.0 for v in x]
    want[1::2] = x
    assert np.array_equal(out, want)
    x[77] = 0.0
    with pytest.raises(ValueError, match="math domain error"):
        f(x, out)
