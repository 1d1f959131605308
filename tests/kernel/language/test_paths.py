"""Variables that only some paths assign, of several kinds of numbers, and conditions of values."""

import numpy as np
import pytest
import unisono as un


def of_branch(n):
    if n > 0:
        s = n * 2
    return s


def of_loop(n):
    for i in range(n):
        v = i * 0.5
    return v, i


def target_or_number(n):
    if n > 6:
        i = -1
    else:
        for i in range(n):
            if i == 3:
                i += 10
                break
    return i


def of_while(n):
    while n > 0:
        q = n
        n -= 2
    return q


def converging(n):
    p0 = 1.0
    for k in range(n):  # noqa: B007
        p = p0 - (p0 * p0 - 2) / (2 * p0)
        if abs(p - p0) < 1e-9:
            break
        p0 = p
    return p, k


def from_last_iteration(n):
    s = 0.0
    for i in range(n):
        if i == 0:
            z = 1.5
        elif i == 1:
            z = z - 0.25
        else:
            z = 2 * z
        s += z
    return s


def inner_target(n):
    for i in range(n):
        for j in range(i):
            m = i * j
        if i > 0:
            m += 1
    return m


def of_branches(n):
    if n > 0:
        u = 2
    else:
        w = 3
    return u if n > -1 else w


def array(n):
    if n > 0:
        a = np.arange(3.0) + n
    return a.sum()


def text(n):
    if n > 0:
        s = "ab"
    return s + "c"


def pair(n):
    if n > 0:
        t = (n, 2.5)
    return t[0] + t[1]


def table(n):
    if n > 0:
        d = {n: 2.5}
    return d[n]


def caught(n):
    try:
        if n > 0:
            s = 1
        return s
    except UnboundLocalError:
        return -1


def beside_prange(n):
    total = 0
    for i in un.prange(n):
        total += i
    if n > 0:
        q = total
    return q


@pytest.mark.parametrize(
    "f",
    [
        of_branch,
        of_loop,
        target_or_number,
        of_while,
        converging,
        from_last_iteration,
        inner_target,
        of_branches,
        array,
        text,
        pair,
        table,
        caught,
        beside_prange,
    ],
)
def test_the_value_or_the_error_of_python(f):
    compiled = un.jit(f)
    for n in (0, 1, 2, 5, 7, -1):
        try:
            expected = f(n)
        except UnboundLocalError as e:
            with pytest.raises(UnboundLocalError) as got:
                compiled(n)
            assert str(e) in str(got.value)
            continue
        assert compiled(n) == expected


def test_numpy_integers_and_python_floats():
    @un.jit
    def shift(x):
        s = 0.0
        if x.min() <= 0:
            s = x.min() * (-1) + 1
        return s

    for dtype in ("int64", "int32", "float64"):
        assert shift(np.array([-2, 3], dtype)) == 3.0
        assert shift(np.array([2, 3], dtype)) == 0.0
        assert isinstance(shift(np.array([-2, 3], dtype)), float)

    @un.jit
    def largest(x):
        m = 0.5
        for v in x:
            if v > m:
                m = v
        return m

    for n in (1, 2**40):  # on three paths
        f = un.jit(lambda x, k: 0.5 if k == 0 else x[0] if k == 1 else x[0] + 1)
        assert [f(np.array([n]), k) for k in range(3)] == [0.5, n, n + 1]
    assert (largest(np.array([3, 9, 4])), largest(np.array([0]))) == (9.0, 0.5)


def test_arrays_without_axes_are_conditions():
    def counted(b, s):
        n = 0
        if (b & np.uint64(1)) == s:
            n += 1
        if not b:
            n += 10
        if b > 2 and b < 5:
            n += 100
        while b > n:
            n += 1
        return n, 1 if b else 2

    compiled = un.jit(counted)
    numbers = np.arange(6, dtype="u8")
    for k in range(6):
        expected = counted(numbers[k], np.uint64(1))
        for b in (un.asarray(numbers)[k], numbers[k : k + 1].reshape(())):
            assert compiled(b, np.uint64(1)) == expected


# ---- names that hold one type after the other, each read where it holds that
def targets_of_several_types(n):
    s = 0.0
    for v in (1, 2):
        s += v
    for v in (1.5, 2.5):
        s += v
    for v in ("a", "bc"):
        s += len(v)
    for v in ((1, 2), (3, 4)):
        s += v[1]
    return s + n


def rebound_in_a_loop(n):
    v = 1.5
    s = v
    for i in range(n):
        v = "abc"[: i + 1]
        s += len(v)
        if i == 4:
            break
    v = (s, 2)
    return v[0] + v[1]


def rebound_in_a_branch(n):
    v = 2.5
    s = v
    if n > 3:
        v = "abc"
        s += len(v)
    while n > 2:
        v = (n, n + 1)
        n = v[0] - 1
        s += v[1]
    return s


@pytest.mark.parametrize("n", [0, 2, 7])
@pytest.mark.parametrize("body", [targets_of_several_types, rebound_in_a_loop, rebound_in_a_branch])
def test_names_of_several_types(body, n):
    assert un.jit(body)(n) == body(n)


def read_behind_a_loop(n):
    v = 1.5
    for _ in range(n):
        v = "abc"
    return v


def read_in_a_loop_before(n):
    v, s = 1.5, 0.0
    for _ in range(n):
        s += v
        v = "abc"
    return s


def read_behind_a_branch(n):
    v = 1.5
    if n > 3:
        v = "abc"
    return v


@pytest.mark.parametrize("body", [read_behind_a_loop, read_in_a_loop_before, read_behind_a_branch])
def test_names_of_several_types_that_are_read(body):
    with pytest.raises(un.CompileError, match="variable 'v' is .* on one path and .* on another"):
        un.jit(body)(7)
