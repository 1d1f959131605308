"""Compiled functions against the Python functions that they come from."""

import math
import threading

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


def same(got, want):
    """Compare values, bits of floats included."""
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
        return
    assert (got is None) == (want is None)
    if want is not None:
        assert np.array_equal(got, want, equal_nan=True)
        assert np.array_equal(np.signbit(got), np.signbit(want)) or np.isnan(want)


def check(function, on, *args):
    """Run both on copies of the arrays; compare results, arrays and exceptions."""
    compiled = un.jit(function, device=on)
    ours = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    try:
        want = function(*theirs)
    except Exception as error:
        with pytest.raises(type(error)) as raised:
            compiled(*ours)
        # pytest adds the values of an assert to its message
        assert str(raised.value) == str(error).split("\nassert ")[0]
        return
    with np.errstate(all="ignore"):
        same(compiled(*ours), want)
    for a, b in zip(ours, theirs, strict=True):
        if isinstance(a, np.ndarray):
            assert a.tobytes() == b.tobytes()


def solve(u, u_new):
    dim_y = u.shape[0]
    dim_x = u.shape[1]
    for y in range(1, dim_y - 1):
        for x in range(1, dim_x - 1):
            u_new[y, x] = (u[y + 1, x] + u[y - 1, x] + u[y, x + 1] + u[y, x - 1]) / 4


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (9, 14)])
def test_laplace_loops(on, dtype, shape):
    u = np.random.default_rng(1).random(shape).astype(dtype)
    check(solve, on, u, u.copy())
    check(solve, on, u[::-1], u.copy().T.copy().T)


def test_laplace_in_place_over_overlapping_views(on):
    u = np.random.default_rng(2).random((8, 9))
    a, b = u.copy(), u.copy()
    un.jit(solve, device=on)(a[:-1], a[1:])
    solve(b[:-1], b[1:])
    assert a.tobytes() == b.tobytes()


def mixed(a, n, x):
    s = 0
    k = 0
    i = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        if s > x and i > 4:
            break
        s += a[i] / 2
        k = i
    while k > 2:
        k -= 2
    return s, k, i, -n // 4


@pytest.mark.parametrize("n", [0, 1, 5, 10])
def test_loops_with_break_and_continue(on, n):
    check(mixed, on, np.arange(10.0), n, 6.0)


def divisions(a, b):
    return a // b, a % b, a / b, a**2, a - b, -a


@pytest.mark.parametrize("b", [2, -2, 3.5, -0.25, 0, 0.0])
@pytest.mark.parametrize("a", [7, -7, 0, 7.5, -7.5])
def test_python_arithmetic(on, a, b):
    check(divisions, on, a, b)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float32", "float64"])
def test_numpy_scalars_keep_their_dtype(on, dtype):
    def f(a, b, out):
        for i in range(len(a)):
            out[i] = (a[i] + 3) * b[i] - a[i] // 2 + 0.1 * b[i]

    a = np.arange(1, 9).astype(dtype)
    check(f, on, a, a[::-1].copy(), np.zeros(8))


def short_circuit(a, x):
    i = 0
    while i < len(a) and a[i] < x:
        i += 1
    y = 1 if i > 3 else 2.5
    n = 0
    if 0 < i < 5 or (x > 100.0 and not i):
        n = -1
    return i, y, n, abs(-x), int(x), math.sqrt(x), min(i, x), max(x, 3, i)


@pytest.mark.parametrize("x", [0.0, 2.5, 4.5, 1000.0, -1.0])
def test_short_circuits_and_conditionals(on, x):
    check(short_circuit, on, np.arange(10.0), x)


def test_tuples_and_swaps(on):
    def f(a, pair):
        x, y = pair
        x, y = y, x
        t = (x, y, a.shape)
        first, second = a.shape
        return t[0], t[-1][1], len(t), first + second, pair, a.ndim, a.size

    check(f, on, np.zeros((3, 4)), (1, 2.5))


def test_returns_of_arguments_and_nothing(on):
    @un.jit(device=on)
    def both(a, b):
        return b, 3, a

    a, b = np.zeros(3), np.ones(2)
    got = both(a, b)
    assert got[0] is b and got[1] == 3 and got[2] is a

    @un.jit(device=on)
    def nothing(a):
        a[0] = 5

    assert nothing(a) is None and a[0] == 5


def test_negative_indices_and_faults(on):
    def f(a, i, j):
        return a[i, j]

    a = np.arange(12.0).reshape(3, 4)
    for i, j in [(0, 0), (-1, -1), (2, -4), (3, 0), (0, 4), (-4, 0), (0, -5)]:
        check(f, on, a, i, j)


def test_fault_names_the_line(on):
    @un.jit(device=on)
    def f(a, n):
        s = 0.0
        for i in range(n):
            s += a[i]  # the line
        return s

    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3") as e:
        f(np.zeros(3), 4)
    assert "s += a[i]  # the line" in e.value.__notes__[0]
    assert __file__ in e.value.__notes__[0]


@pytest.mark.parametrize("k", [1, 2, 8, 256, 2**62, -1, -4])
def test_division_by_constants(on, k):
    def f(a, quotients, remainders):
        for i in range(len(a)):
            quotients[i] = a[i] // k
            remainders[i] = a[i] % k

    a = np.array([0, 1, 7, 8, 255, 256, 1000, -1, -2, -7, -8, -256, 2**62, -(2**62), -(2**63) + 1])
    check(f, on, a, np.zeros_like(a), np.zeros_like(a))
    if k < 2**31:
        small = a.astype(np.int32)
        check(f, on, small, np.zeros_like(small), np.zeros_like(small))
    if 0 < k < 2**8:
        bytes_ = np.arange(256, dtype=np.uint8)
        check(f, on, bytes_, np.zeros_like(bytes_), np.zeros_like(bytes_))


def test_loops_whose_indices_leave_the_range_that_is_tested_in_front(on):
    def around(u, v):
        total, last = 0.0, -1
        for i in range(len(u)):
            v[i] = u[i - 1] - u[i]  # -1 is the last one
            total += v[i]
            last = i
        return total, last

    def beyond(u, v):
        for i in range(len(u)):
            v[i] = u[i + 1]

    u = np.arange(6.0) ** 2
    check(around, on, u, np.zeros(6))
    compiled, v = un.jit(beyond, device=on), np.zeros(6)
    for _ in range(2):
        with pytest.raises(IndexError, match="index 6 is out of bounds for axis 0 with size 6"):
            compiled(u, v)
    assert v.tolist() == [1, 4, 9, 16, 25, 0]


def test_edges_that_a_condition_takes_out(on):
    def mean(u, v):
        rows, columns = u.shape
        for y in range(rows):
            for x in range(columns):
                if y == 0 or x == 0 or y == rows - 1 or x == columns - 1:
                    v[y, x] = u[y, x]
                else:
                    v[y, x] = (u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1]) / 4

    def differences(u, v):
        for x in range(u.shape[1]):
            if x != 0:
                v[0, x] = u[0, x] - u[0, x - 1]
            if x != 1:
                v[1, x] = u[1, x - 1]

    u = np.arange(30.0).reshape(5, 6) ** 2
    for f in (mean, differences):
        check(f, on, u, np.zeros_like(u))
    check(mean, on, u[:1], np.zeros((1, 6)))


def test_threads_meet_at_a_loop_that_is_compiled_when_it_is_needed(on):
    @un.jit(device=on)
    def around(u, v):
        for y in un.prange(u.shape[0]):
            for x in range(u.shape[1]):
                v[y, x] = u[y - 1, x] - u[y, x - 1]

    u = np.arange(3000.0).reshape(60, 50) ** 2
    wanted = np.roll(u, 1, 0) - np.roll(u, 1, 1)
    made = [np.zeros_like(u) for _ in range(8)]
    threads = [threading.Thread(target=around, args=(u, v)) for v in made]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all((v == wanted).all() for v in made)


def test_raise_and_assert(on):
    def f(x):
        if x > 3:
            raise ValueError("too large: {0} {x}")
        assert x > 1, "too small"
        return x

    for x in (4, 1, 2):
        check(f, on, x)


@un.jit
def halve(x, y=2.0):
    if x > 3:
        return x / y
    return 0


def test_calls_of_compiled_functions(on):
    @un.jit(device=on)
    def f(a, k):
        s = 0.0
        for i in range(len(a)):
            s += halve(a[i], y=k) if i % 2 else halve(a[i])
        return s

    def plain(a, k):
        s = 0.0
        for i in range(len(a)):
            s += halve.py_func(a[i], y=k) if i % 2 else halve.py_func(a[i])
        return s

    a = np.arange(10.0)
    assert f(a, 3) == plain(a, 3)


SCALE = 3


def test_captured_values_are_part_of_the_key(on):
    global SCALE
    offset = 0.5

    @un.jit(device=on)
    def f(x):
        return x * SCALE + offset

    assert f(2) == 6.5
    try:
        SCALE = 5
        assert f(2) == 10.5
    finally:
        SCALE = 3
    assert f(2) == 6.5
    offset = 1.0
    assert f(2) == 7.0


def test_keywords_defaults_and_signatures(on):
    @un.jit(device=on)
    def f(a, b=2, c=3.0):
        return a + 10 * b + 100 * c

    assert f(1) == 321.0 and f(1, c=1) == 121 and f(b=0, a=0, c=0) == 0
    assert len(f.signatures) == 2
    with pytest.raises(TypeError, match="argument 'a' is missing"):
        f(b=1)
    with pytest.raises(TypeError, match="'d' names no parameter"):
        f(1, d=1)
    with pytest.raises(TypeError, match="too many arguments"):
        f(1, 2, 3, 4)


def test_one_specialisation_for_all_sizes(on):
    f = un.jit(solve, device=on)
    for n in range(3, 8):
        f(np.zeros((n, n + 1)), np.zeros((n, n + 1)))
    assert len(f.signatures) == 1


def test_wrong_arguments(on):
    f = un.jit(lambda_free, device=on)
    with pytest.raises(TypeError, match="argument 'a' cannot be used in compiled code; got a list"):
        f([1, 2.5])
    with pytest.raises(TypeError, match="elements of format"):
        f(np.zeros(3, np.longdouble))
    for unit in ("M8[D]", "m8[s]"):
        name = str(np.dtype(unit)).replace("[", "\\[")
        with pytest.raises(
            TypeError, match=rf"argument 'a' .* got an array of {name}.*x.view\(np.int64\)"
        ):
            f(np.zeros(3, unit))
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        f(2**70)
    a = np.zeros(3)
    a.flags.writeable = False

    @un.jit(device=on)
    def write(a):
        a[0] = 1

    with pytest.raises(ValueError, match="read-only"):
        write(a)


def lambda_free(a):
    return a


def test_arrays_of_unisono(on):
    u, v = un.zeros((4, 5)), un.zeros((4, 5))
    u[0, :] = 100
    un.jit(solve, device=on)(u, v)
    n = np.zeros((4, 5))
    solve(np.asarray(u), n)
    assert np.array_equal(np.asarray(v), n)


def test_calls_from_many_threads(on):
    """First calls meet while source is read and compiled; results stay right."""
    from concurrent.futures import ThreadPoolExecutor

    @un.jit(device=on)
    def g(x):
        return x * SCALE

    @un.jit(device=on)
    def f(a):
        s = 0.0
        for i in range(len(a)):
            s += g(a[i])
        return s

    arrays = [np.full(n, 0.5) for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(f, arrays)) == [0.5 * SCALE * n for n in range(40)]


def test_mutual_recursion(on):
    assert even(4) and odd(3) and not even(3)


@un.jit
def even(n):
    return True if n == 0 else odd(n - 1)


@un.jit
def odd(n):
    return False if n == 0 else even(n - 1)


def test_unisono_functions_are_known(on):
    @un.jit(device=on)
    def f(x):
        return un.sqrt(x), un.exp(x), un.sin(x), un.floor(x), abs(x)

    @un.jit(device=on)
    def g(x):
        return np.sqrt(x), np.exp(x), np.sin(x), np.floor(x), abs(x)

    assert f(2.7) == g(2.7)
    assert g(2.7)[0] == np.sqrt(2.7) and g(2.7)[3:] == (2.0, 2.7)


def test_garbage_is_collected(on):
    import gc
    import weakref

    def make():
        @un.jit(device=on)
        def f(x):
            return x + 1

        assert f(1) == 2
        return weakref.ref(f)

    f = make()
    gc.collect()
    assert f() is None
