"""Slices of lists as targets of assignments and of del."""

import copy
import itertools

import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


def outcome(function, args):
    try:
        return repr(function(*args)), repr(args)
    except Exception as error:
        return type(error).__name__, str(error), repr(args)


def assigned(xs, i, j, ys):
    xs[i:j] = ys
    xs[i:] = ys
    xs[:j] = [7]
    return xs


def stepped(xs, i, j, k, ys):
    xs[i:j:k] = ys
    return xs


def deleted(xs, i, j, k):
    ys = list(xs)
    del ys[i:j]
    del xs[i:j:k]
    return ys


def own(n):
    xs = [k for k in range(n)]
    xs[1:3] = (9, 8, 7)
    ys = xs
    ys[:0] = xs
    del xs[-1:]
    zs = []
    zs[:] = "abc"
    zs[1:2] = [str(n), "q"]
    fs = []
    fs[0:0] = [1.0] * 2
    ts = [(1, "a")]
    ts[1:] = [(n, "b")] * 2
    del ts[:1]
    return xs, ys, zs, fs, ts


def sieve(n):
    prime = [True] * (n + 1)
    prime[0:2] = [False, False]
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            prime[i * i :: i] = [False] * len(prime[i * i :: i])
    return [i for i, p in enumerate(prime) if p]


def while_looping(n):
    xs = list(range(n))
    seen = []
    for x in xs:
        seen.append(x)
        if x % 2:
            del xs[-2:]
        elif x < 3:
            xs[1:1] = [9, 5]
    return seen, xs


BOUNDS = [(1, 3), (0, 0), (-2, 9), (3, 1), (-9, 2), (5, 9)]


@pytest.mark.parametrize("xs", [[], [1, 2, 3, 4, 5], ["a", "b", "c"]], ids=str)
def test_parts(on, xs):
    more = xs[:2] + xs[:1]
    f, g, h = (un.jit(f, device=on) for f in (assigned, stepped, deleted))
    for (i, j), ys in itertools.product(BOUNDS, (more, more[:1])):
        for compiled, function, args in (
            (f, assigned, (xs, i, j, ys)),
            *((g, stepped, (xs, i, j, k, ys)) for k in (2, -1, 1, -3, 0)),
            *((h, deleted, (xs, i, j, k)) for k in (2, -1, 1, -3)),
        ):
            if xs and isinstance(xs[0], str) and function is assigned:
                continue
            if not xs and function is not deleted:
                continue
            a, b = copy.deepcopy(args), copy.deepcopy(args)
            assert outcome(compiled, a) == outcome(function, b), args


@pytest.mark.parametrize("function", [own, sieve, while_looping])
def test_as_python(on, function):
    for n in (3, 8, 30):
        assert repr(un.jit(function, device=on)(n)) == repr(function(n))
