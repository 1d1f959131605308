"""Compiled functions whose control runs on the host and whose loops run on the device of their arrays."""

import contextlib
import dataclasses
import os
import signal
import threading
import warnings

import numpy as np
import pytest
import unisono as un

N = 500


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def host(x):
    if isinstance(x, tuple):
        return tuple(host(item) for item in x)
    return np.asarray(x.to_device("cpu")) if hasattr(x, "to_device") else x


def check(device, f, *args):
    """The function on copies of the arrays on the device gives what the Python function gives, and leaves the same."""
    wanted_args = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    wanted = f.py_func(*wanted_args)
    there = [un.asarray(a.copy(), device=device) if isinstance(a, np.ndarray) else a for a in args]
    got = host(f(*there))
    for a, b in zip(there, wanted_args, strict=True):
        if isinstance(b, np.ndarray):
            assert a.device == device
            np.testing.assert_allclose(host(a), b, rtol=1e-13 if b.dtype.itemsize == 8 else 1e-5)
    if wanted is None:
        assert got is None
    else:
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    return there


# ---- Serial loops around parallel ones


def test_a_time_loop_around_parallel_loops(device, rng):
    @un.jit
    def smooth(a, b, steps):
        for _ in range(steps):
            for i in un.prange(1, a.shape[0] - 1):
                b[i] = (a[i - 1] + a[i + 1]) / 2
            for i in un.prange(1, a.shape[0] - 1):
                a[i] = b[i]

    a = rng.random(N)
    on_device = check(device, smooth, a, a.copy(), 7)
    on_host = [a.copy(), a.copy()]
    smooth(*on_host, 7)
    np.testing.assert_array_equal(host(on_device[0]), on_host[0])
    check(device, smooth, a, a.copy(), 0)


def test_the_loop_s_number_and_scalars_of_the_host_reach_the_kernels(device, rng):
    @un.jit
    def scale(a, steps):
        t = 1.0
        for k in range(2, steps, 3):
            t = t * 0.5 + k
            for i in un.prange(a.shape[0]):
                a[i] = a[i] * t + k
        return t

    check(device, scale, rng.random(N), 12)


def test_arrays_that_are_swapped_in_a_loop(device, rng):
    @un.jit
    def smooth(a, b, steps):
        for _ in range(steps):
            for i in un.prange(1, a.shape[0] - 1):
                b[i] = (a[i - 1] + a[i + 1]) / 2
            a, b = b, a

    a = rng.random(N)
    for steps in (0, 1, 4, 5):
        check(device, smooth, a, a[::-1].copy(), steps)


def test_a_loop_until_a_residual_is_small(device, rng):
    @un.jit
    def relax(a, b, tolerance):
        residual = 1.0
        steps = 0
        while residual > tolerance:
            residual = 0.0
            for i in un.prange(1, a.shape[0] - 1):
                b[i] = (a[i - 1] + a[i + 1]) / 2
                residual += abs(b[i] - a[i])
            for i in un.prange(1, a.shape[0] - 1):
                a[i] = b[i]
            steps += 1
        return steps

    a = rng.random(30)
    check(device, relax, a, a.copy(), 1e-3)


def test_nested_serial_loops_with_break_and_continue(device, rng):
    @un.jit
    def work(a, steps):
        done = 0
        for k in range(steps):
            if k == 1:
                continue
            for m in range(3):
                if a[m] > 4:
                    break
                for i in un.prange(a.shape[0]):
                    a[i] += m
                done += 1
            if done > 5:
                break
        return done

    check(device, work, rng.random(N), 6)


def test_bounds_that_change_in_a_loop(device, rng):
    @un.jit
    def halving(a):
        n = a.shape[0]
        while n > 1:
            n //= 2
            for i in un.prange(n):
                a[i] += a[i + n]
        return a[0]

    check(device, halving, rng.random(256))


def test_parallel_loops_of_called_functions(device, rng):
    @un.jit
    def sweep(a, b):
        for i in un.prange(1, a.shape[0] - 1):
            b[i] = (a[i - 1] + a[i + 1]) / 2

    @un.jit
    def largest(a, limit):
        m = 0.0
        for i in un.prange(a.shape[0]):
            m = max(m, a[i])
        if m > limit:
            return limit
        return m

    @un.jit
    def work(a, b, steps):
        total = 0.0
        for _ in range(steps):
            sweep(a, b)
            sweep(b, a)
            total += largest(a, 0.6)
        return total

    check(device, work, rng.random(N), rng.random(N), 5)


# ---- Values that only the device knows


def test_bounds_that_depend_on_data(device, rng):
    @un.jit
    def clear(counts, a):
        first = counts[0]
        for i in un.prange(first, counts[1]):
            a[i] = 0.0

    @un.jit
    def rows(starts, data, out):
        for i in un.prange(out.shape[0]):
            s = 0.0
            for j in range(starts[i], starts[i + 1]):
                s += data[j]
            out[i] = s

    check(device, clear, np.array([7, 20]), rng.random(N))
    starts = np.sort(rng.integers(0, N, 21))
    check(device, rows, starts, rng.random(N), np.zeros(20))


def test_branches_and_returns_that_depend_on_data(device, rng):
    @un.jit
    def normalise(a):
        s = 0.0
        for i in un.prange(a.shape[0]):
            s += a[i]
        if s < 1:
            return -1.0
        if a[0] > 2:
            for i in un.prange(a.shape[0]):
                a[i] = 2.0
        else:
            for i in un.prange(a.shape[0]):
                a[i] = a[i] / s
        return s

    check(device, normalise, rng.random(N))
    check(device, normalise, np.full(N, 3.0))
    check(device, normalise, np.full(N, 1e-9))


# ---- Arrays made inside


def test_temporaries(device, rng):
    @un.jit
    def differences(a, b):
        t = np.zeros(a.shape[0])
        u = np.empty_like(a)
        for i in un.prange(a.shape[0]):
            t[i] = a[i] * 2
            u[i] = a[i] + 1
        for i in un.prange(1, a.shape[0]):
            b[i] = t[i] - t[i - 1] + u[i]

    check(device, differences, rng.random(N), rng.random(N))


def test_new_arrays_are_returned_where_the_arguments_are(device, rng):
    @un.jit
    def parts(a):
        double = np.empty_like(a)
        s = 0.0
        for i in un.prange(a.shape[0]):
            double[i] = a[i] * 2
            s += a[i]
        return double, double[1:-1:2], a, a[::2], s

    a = rng.random(N)
    (there,) = check(device, lambda_of(parts, 4), a)
    double, part, same, view, total = parts(there)
    for x in (double, part, same, view):
        assert x.device == device
    np.testing.assert_array_equal(host(double), a * 2)
    np.testing.assert_array_equal(host(part), (a * 2)[1:-1:2])
    np.testing.assert_array_equal(host(view), a[::2])
    view[:] = 0
    double[1] = 5.0
    assert float(there[2]) == 0 and float(part[0]) == 5
    np.testing.assert_allclose(total, a.sum(), rtol=1e-13)


def lambda_of(f, index):
    """One result of f, as a compiled function."""

    @un.jit
    def one(a):
        return f(a)[index]

    return one


def test_array_statements(device, rng):
    @un.jit
    def step(u, v, steps):
        for _ in range(steps):
            v[1:-1] = (u[:-2] + u[2:]) / 2
            u[:] = v
        return u * v + 1

    for n in (20, 70_000):
        u = rng.random(n)
        check(device, step, u, u.copy(), 3)


def test_the_conjugate_gradient_method(device, rng):
    @un.jit
    def solve(a, b, x, steps):
        r = b - a @ x
        p = r.copy()
        rs = np.dot(r, r)
        for _ in range(steps):
            ap = a @ p
            alpha = rs / np.dot(p, ap)
            x += alpha * p
            r -= alpha * ap
            new = np.dot(r, r)
            if np.sqrt(new) < 1e-12:
                break
            p = r + (new / rs) * p
            rs = new
        return rs < 1e-10

    m = rng.random((12, 12))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check(device, solve, m @ m.T + np.eye(12), rng.random(12), np.zeros(12), 40)
    assert not caught  # the products run on the device


@pytest.mark.parametrize("n", [1, 31, 1000, 40_000, 200_000])
def test_reductions_of_any_length_have_the_host_s_bits(device, rng, n):
    @un.jit
    def statistics(a):
        return np.sum(a), a.mean(), a.max(), a.min(), np.prod(a[:20]), a.std()

    a = rng.random(n)
    assert host(statistics(un.asarray(a.copy(), device=device))) == statistics(a)


def test_callees_return_views_of_what_they_are_given(device, rng):
    @un.jit
    def tail(a):
        return a[1:]

    @un.jit
    def tails(n, x):
        a = np.arange(n) * 1.5
        return tail(a), tail(tail(x)), tail(a[::-1])

    x = rng.random(9)
    got = tails(6, un.asarray(x, device=device))
    for a, b in zip(host(got), tails.py_func(6, x), strict=True):
        np.testing.assert_array_equal(a, b)


def test_results_that_may_lie_in_an_argument_that_was_made(device, rng):
    """The host tells, by where memory is and by sizes that the device computed."""

    @un.jit
    def counts(a):
        places = (a * 10).astype(np.int64)
        return np.unique(places), np.bincount(places + 1), np.unique((a * 3).astype(np.int64))

    @un.jit
    def until_large(x):
        n = 0
        for i in range(len(x)):
            if x[i] > 0.9:
                break
            n += 1
        return x[:n]

    @un.jit
    def part(a):
        return until_large(a * 1.0), until_large(a + 1.0)

    a = rng.random(300)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="(?s).*runs on the host")
        for f in (counts, part):
            got = host(f(un.asarray(a, device=device)))
            for x, y in zip(got, f.py_func(a), strict=True):
                np.testing.assert_array_equal(x, y)


# ---- Errors and warnings


@dataclasses.dataclass
class Task:
    number: int


def on_host(device, match):
    """A warning that a device refuses the function, which the host runs then."""
    if str(device) == "cpu":
        return contextlib.nullcontext()
    return pytest.warns(RuntimeWarning, match=f"(?s)runs on the host.*{match}")


def test_objects_make_the_host_run_the_function(device):
    @un.jit
    def work(a):
        tasks = [Task(2), Task(1)]
        for i in un.prange(a.shape[0]):
            a[i] = 1.0
        return tasks[0].number

    a = un.zeros(5, device=device)
    with on_host(device, "object of the host cannot be used|address"):
        assert work(a) == 2
    assert a.device == device and a.tolist() == [1] * 5


def test_errors_name_the_line(device):
    @un.jit
    def shift(a, steps):
        for k in range(steps):
            for i in un.prange(a.shape[0]):
                a[i + k] = 1.0  # the line

    @un.jit
    def divide(a, n):
        k = 10 // (n - 5)
        for i in un.prange(k):
            a[i] = 0

    @un.jit
    def refuse(a, steps):
        for k in range(steps):
            for i in un.prange(a.shape[0]):
                a[i] *= 2
            if a[0] > 3:
                raise ValueError(f"too large in step {k}")

    def error_of(kind, f, *args):
        with pytest.raises(kind) as caught:
            a = un.asarray(np.ones(100), device=device)
            f(a, *args)
            float(a[0])
        return str(caught.value), "\n".join(caught.value.__notes__)

    text, notes = error_of(IndexError, shift, 4)
    assert text == "index 100 is out of bounds for axis 0 with size 100" and "# the line" in notes
    text, notes = error_of(ZeroDivisionError, divide, 5)
    assert "k = 10 // (n - 5)" in notes
    text, notes = error_of(ValueError, refuse, 9)
    assert text == "too large in step 1" and "raise ValueError" in notes


def test_a_fault_ends_a_loop_that_waits_for_the_device(device):
    @un.jit
    def endless(a):
        k = 0
        while a[0] >= 0:
            for i in un.prange(a.shape[0]):
                a[i + k] = 1.0
            k += 1

    with pytest.raises(IndexError, match="index 100 is out of bounds"):
        a = un.asarray(np.ones(100), device=device)
        endless(a)
        float(a[0])


def test_a_serial_function_runs_with_a_warning_that_names_the_loop(device):
    @un.jit
    def recurrence(a):
        for i in range(1, a.shape[0]):
            a[i] = a[i - 1] * 0.5 + a[i]

    line = recurrence.py_func.__code__.co_firstlineno + 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check(device, recurrence, np.arange(50.0))
        check(device, recurrence, np.arange(50, dtype=np.float32))
    if str(device) == "cpu":
        assert not caught
    else:
        assert len(caught) == 1
        assert f":{line}\n" in str(caught[0].message) and "prange" in str(caught[0].message)


def test_no_warning_of_loops_that_nobody_wrote(device, rng):
    @un.jit
    def total(a):
        s = 0.0
        for i in un.prange(a.shape[0]):
            s += a[i]
        return s + np.sum(a)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(device, total, rng.random(N))


# ---- Array variables in parallel loops, and functions that the host has


def test_rows_and_small_arrays_in_parallel_loops(device, rng):
    @un.jit
    def mirror(a, out):
        for i in un.prange(a.shape[0]):
            row = a[i]
            t = np.zeros(8)
            for j in range(8):
                t[j] = row[7 - j] * 2
            for j in range(8):
                out[i, j] = t[j] + row[j]

    @un.jit
    def square(row):
        s = 0.0
        for j in range(len(row)):
            s += row[j] * row[j]
        return s

    @un.jit
    def norms(a, out):
        for i in un.prange(a.shape[0]):
            out[i] = square(a[i]) + a[i].sum()

    a = rng.random((30, 8))
    check(device, mirror, a, np.zeros((30, 8)))
    check(device, norms, a, np.zeros(30))


def test_arrays_of_unknown_size_in_parallel_loops_make_the_host_run_the_function(device):
    @un.jit
    def work(a, n):
        for i in un.prange(a.shape[0]):
            t = np.zeros(n)
            a[i] = t[0]

    a = un.asarray(np.ones(10), device=device)
    with on_host(device, "must have a constant, small size"):
        work(a, 3)
    assert a.tolist() == [0] * 10


def test_the_host_runs_what_devices_cannot_recurse_into(device):
    @un.jit
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    @un.jit
    def fill(a):
        for i in un.prange(a.shape[0]):
            a[i] = fibonacci(i)

    a = un.asarray(np.zeros(10), device=device)
    with on_host(device, "fibonacci: a recursive function"):
        fill(a)
    assert float(a[9]) == 34 and a.device == device
    a[:] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # told once
        fill(a)
    assert float(a[9]) == 34


def test_results_of_functions_that_the_host_runs_lie_on_the_device(device):
    @un.jit
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    @un.jit
    def work(a, b, n):
        a[0] = factorial(n)
        return a, b + 1, factorial(n)

    a, b = un.zeros(3, device=device), un.ones(2, device=device)
    with on_host(device, "factorial"):
        same, more, number = work(a, b, 5)
    assert same is a and number == 120
    assert a.tolist() == [120, 0, 0] and more.tolist() == [2, 2] and b.tolist() == [1, 1]
    assert a.device == more.device == device
    if str(device) != "cpu":
        with pytest.raises(un.UnsupportedError, match="work: .* share memory"):
            work(a, a[1:], 5)


def test_what_the_host_wrote_before_an_error_stays(device):
    @un.jit
    def down(n):
        if n == 0:
            raise ValueError("bottom")
        return 0 if n > 9 else down(n - 1)

    @un.jit
    def work(a):
        a[0] = 5
        return down(3)

    a = un.zeros(3, device=device)
    with on_host(device, "down"), pytest.raises(ValueError, match="bottom"):
        work(a)
    assert a.tolist() == [5, 0, 0]


def test_arrays_of_the_host_stay_there_where_the_named_device_refuses(device):
    @un.jit
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    @un.jit(device=device)
    def fill(a):
        for i in un.prange(a.shape[0]):
            a[i] = fibonacci(i)

    a = np.zeros(10)
    before = un.stats()["bytes_copied"]
    with on_host(device, "fibonacci"):
        fill(a)
    fill(a)
    assert a[9] == 34 and un.stats()["bytes_copied"] == before


def test_functions_that_the_host_has(device, rng):
    @un.jit
    def ordered(a):
        np.random.seed(3)
        first = np.random.rand()
        b = np.sort(a)
        for i in un.prange(a.shape[0]):
            b[i] += first
        return b

    a = rng.random(N)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is copied
        got = host(ordered(un.asarray(a, device=device)))
    np.testing.assert_array_equal(got, host(ordered(a)))


def test_whole_array_functions_of_the_device(device, rng):
    @un.jit
    def ordered(a, z, m):
        order = np.argsort(a, axis=0)
        flat = np.sort(a.ravel())
        counts, edges = np.histogram(flat, 7)
        return np.sort(a), order, a[a > 0.5], z[m], np.sort(z), counts, edges

    @un.jit
    def products(a, b, s):
        return a @ b.T, s @ b.T, np.linalg.solve(a, b[:, 0]), np.linalg.inv(a), np.linalg.det(a)

    @un.jit
    def factor(a):
        return np.linalg.cholesky(a @ a.T)

    def close_in_single(x, y):
        return np.allclose(x, y, rtol=1e-3, atol=1e-3 * np.abs(y).max())

    a, s = rng.random((40, 40)), rng.random((3, 40, 40))
    z = rng.random(300) + 1j * rng.integers(0, 3, 300)
    calls = [
        (ordered, np.array_equal, a, z, z.real > 0.25),
        (products, np.allclose, a, a[::-1], s),
        (products, close_in_single, *(x.astype(np.float32) for x in (a, a[::-1], s))),
        (factor, np.allclose, a),
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for f, is_same, *arguments in calls:
            got = host(f(*(un.asarray(x, device=device) for x in arguments)))
            wanted = host(f(*arguments))
            if not isinstance(wanted, tuple):
                got, wanted = (got,), (wanted,)
            for x, y in zip(got, wanted, strict=True):
                assert is_same(x, y)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        x = un.zeros((4, 4), device=device)
        products(x, x, un.zeros((1, 4, 4), device=device))


@un.vectorize
def scaled(x, y):
    return x * y + 1


@un.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
def running_sum(x, start, out):
    s = start
    for i in range(x.shape[0]):
        s += x[i]
        out[i] = s


def test_vectorized_functions(device, rng):
    a, b = rng.random((4, 25)), rng.random((4, 25))
    x, y = (un.asarray(t, device=device) for t in (a, b))
    made = scaled(x, y)
    assert made.device == device
    np.testing.assert_array_equal(host(made), a * b + 1)
    for operand, number in ((a, 0.5), (a[0], 2.0)):
        made = running_sum(un.asarray(operand, device=device), number)
        assert made.device == device
        np.testing.assert_allclose(host(made), number + np.cumsum(operand, axis=-1), rtol=1e-14)
        np.testing.assert_allclose(np.asarray(running_sum(operand, number)), host(made), rtol=1e-14)


@pytest.mark.parametrize("waits", [False, True])
def test_ctrl_c_ends_a_loop_of_the_host(device, waits):
    @un.jit
    def endless(a, waits):
        k = 0
        while a[0] > 0 if waits else k < 1 << 60:
            for i in un.prange(a.shape[0]):
                a[i] += 1
            k += 1

    a = un.asarray(np.ones(1000), device=device)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # in the background it is ignored
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt) as caught:
            endless(a, waits)
    finally:
        signal.signal(signal.SIGINT, before)
    assert "while a[0] > 0 if waits" in "\n".join(caught.value.__notes__)
    assert float(a[0]) >= 1, "the device still answers"


@un.jit
def _first_half(a):
    return a[: a.shape[0] // 2]


def views_beside_their_arrays(n):
    a, b = np.arange(n) * 1.5, np.zeros(n)
    c, d = _first_half(b), a[:0]
    c[0] = 7
    return c, d, b, a, a[1:]


def test_results_that_share_memory_come_to_the_host(device):
    for n in (2, 5, 6):
        made = un.jit(views_beside_their_arrays, device=device.name)(n)
        for got, expected in zip(made, views_beside_their_arrays(n), strict=True):
            assert got.device == "cpu"
            np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))
