"""Compiled generators: looped over in compiled functions, and called from Python."""

import math

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())

A = np.arange(12.0).reshape(3, 4)


@un.jit
def primes(limit):
    n = 2
    while True:
        if n > limit:
            return
        is_prime = True
        for k in range(2, n):
            if k * k > n:
                break
            if n % k == 0:
                is_prime = False
                break
        if is_prime:
            yield n
        n += 1


@un.jit
def chained(n):
    yield from primes(n)
    yield -1
    yield from range(3)


@un.jit
def until(a, stop):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] == stop:
                return
            yield math.sqrt(a[i, j]), i


@un.jit
def nothing(n):
    if n > 0:
        return
    yield n


def left_early(n):
    s = 0
    for p in primes(n):
        if p == 5:
            continue
        if p > 20:
            break
        s += p
    return s


def all_of_chain(n):
    return [x for x in chained(n)], sum(chained(n)), list(primes(n)), max(chained(n))


def zipped(n):
    s = 0
    for p, k in zip(primes(n), range(100), strict=False):
        s += p * k
    for k, p in enumerate(primes(n)):
        s += p * k
    return s


def nested(n):
    s = 0
    for p in primes(n):
        for q in primes(p):
            if q == p:
                break
            s += p * q
        if s > 200:
            break
    return s


def over_arrays(a, stop):
    s = 0.0
    for x, i in until(a, stop):
        s += x * (i + 1)
    for x, _ in until(a, stop):
        s += x
        if s > 25:
            break
    return s


def over_nothing(n):
    s = 0
    for x in nothing(n):
        s += x + 7
    return s


CASES = [
    (left_early, [(30,), (3,)]),
    (all_of_chain, [(30,), (2,)]),
    (zipped, [(30,), (1,)]),
    (nested, [(30,), (5,)]),
    (over_arrays, [(A, 6.0), (A, 99.0), (A, 0.0)]),
    (over_nothing, [(0,), (1,)]),
]
GENERATORS = {f.__name__: f for f in (primes, chained, until, nothing)}


@pytest.mark.parametrize("function, calls", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_as_python(function, calls, on, monkeypatch):
    with monkeypatch.context() as plain:
        for name, generator in GENERATORS.items():
            plain.setitem(globals(), name, generator.py_func)
        expected = [function(*args) for args in calls]
    compiled = un.jit(function, device=on)
    assert [compiled(*args) for args in calls] == expected


def test_called_from_python_it_gives_items_one_by_one(on):
    @un.jit(device=on)
    def powers(x):
        value = 1
        while True:
            yield value
            value *= x

    items = powers(3)
    assert [next(items) for _ in range(4)] == [1, 3, 9, 27]
    assert iter(items) is items
    assert list(chained(3)) == [2, 3, -1, 0, 1, 2]
    assert [i for _, i in until(A, 5.0)] == [0, 0, 0, 0, 1]
