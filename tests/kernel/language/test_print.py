"""print in compiled functions: the text, and where it goes, as the Python function prints it."""

import contextlib
import io

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())

FLOATS = [
    0.0,
    -0.0,
    1.0,
    0.1,
    1e16,
    1e15,
    123456789.123,
    1e-5,
    1e-4,
    5e-324,
    1.7976931348623157e308,
]
FLOATS += [float("nan"), float("inf"), -float("inf"), 1 / 3, -2.5e-10, 100.0, 3e22]


def printed(function, *args):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print("before")
        function(*args)
        print("after")
    return out.getvalue()


def numbers(n, x, b):
    print(n, x, b)
    print("n is", n, "and {x} is", x, sep="; ", end="!\n")
    print()
    print(n, end="")
    print(f"{n}|{x}|{b}|{n:5d}|{x:.3f}|{x:>12.4g}|{x!r}|{n:,}|{{}}", flush=True)
    print(None, (n, x, b), (n,), (), "ü {0} %s", ("a'b", 'it\'s "x"', "\n"), -n, x * 2)
    print(*(n, x), (n, (x, b)), complex(x, n), [n, n - 1], [x], [b])


def scalars(a, k, c, m):
    for i in range(a.shape[0]):
        print(i, a[i], k[i], c[i], m[i], f"{c[i]} {c[i]:.2f} {a[i]}")
        print((a[i], c[i], k[i], m[i]))


def arrays(a, b):
    print(a, b.T, "end")
    print(a * 2, b[1], b[:, ::2], a[:0], f"{n_lines(a)}")


@un.jit
def n_lines(a):
    print("called")
    return len(a)


def before_the_error(n):
    for i in range(n):
        print(i)
        if i == 3:
            raise ValueError(f"at {i}")


@pytest.mark.parametrize("x", FLOATS)
def test_numbers(on, x):
    f = un.jit(numbers, device=on)
    for n in (0, -7, 123456789012, 2**63 - 1):
        assert printed(f, n, x, n > 0) == printed(numbers, n, x, n > 0)


def test_numpy_scalars(on):
    a = np.array(FLOATS[:10])
    c = np.array(
        [1e16, 1e15, 123456792, 0.1, 1e-4, 1e-5, 3.4e38, 1e-45, -2.5, 16777216], np.float32
    )
    k = np.arange(10).astype(np.uint8)
    m = a > 1
    assert printed(un.jit(scalars, device=on), a, k, c, m) == printed(scalars, a, k, c, m)


def test_random_float32(on):
    def show(a):
        for i in range(a.shape[0]):
            print(a[i])

    bits = np.random.default_rng(0).integers(0, 2**32, 2000, dtype=np.uint32)
    a = bits.view(np.float32)
    assert printed(un.jit(show, device=on), a) == printed(show, a)


def test_arrays(on):
    a, b = np.arange(5.0), np.arange(12).reshape(3, 4)
    assert printed(un.jit(arrays, device=on), a, b) == printed(arrays, a, b)


def test_what_was_printed_before_an_error(on):
    def caught(function):
        with pytest.raises(ValueError, match="at 3"):
            function(9)

    f = un.jit(before_the_error, device=on)
    assert printed(caught, f) == printed(caught, before_the_error) == "before\n0\n1\n2\n3\nafter\n"


def test_a_stdout_that_fails(on):
    class Full:
        def write(self, text):
            raise OSError("disk is full")

    f = un.jit(numbers, device=on)
    with pytest.raises(OSError, match="disk is full"), contextlib.redirect_stdout(Full()):
        f(1, 2.0, True)


def test_lines_of_threads_stay_whole(on):
    @un.jit(device=on)
    def f(n):
        for i in un.prange(n):
            print("line", i)

    lines = printed(f, 300).splitlines()[1:-1]
    assert sorted(lines) == sorted(f"line {i}" for i in range(300))


def test_capsys(on, capsys):
    un.jit(numbers, device=on)(1, 2.5, False)
    assert capsys.readouterr().out.startswith("1 2.5 False\nn is; 1; and {x} is; 2.5!\n\n1")
