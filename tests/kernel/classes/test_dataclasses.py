"""Frozen dataclasses and named tuples in compiled functions: one body run by CPython and compiled."""

import dataclasses
import math
from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pytest
import unisono as un


@dataclasses.dataclass(frozen=True, order=True)
class Point:
    x: float
    y: float = 2.0

    def norm(self):
        return math.sqrt(self.x * self.x + self.y * self.y)

    def moved(self, dx, dy=0.0):
        return Point(self.x + dx, self.y + dy)

    @property
    def total(self):
        return self.x + self.y

    @staticmethod
    def unit():
        return Point(1.0, 0.0)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Point(self.x * k, self.y * k)

    def __rmul__(self, k):
        return self * k


@dataclasses.dataclass(frozen=True)
class Line:
    a: Point
    b: Point
    weights: np.ndarray
    tags: tuple = (1, 2)


class Pair(NamedTuple):
    first: float
    second: int = 3

    def swapped(self):
        return Pair(self.second, self.first)


Plain = namedtuple("Plain", "a b")


def same(body, *args):
    expected, found = body(*args), un.jit(body)(*args)
    assert type(found) is type(expected)
    assert found == expected
    return found


def test_fields_and_methods():
    def body(p, n):
        s = 0.0
        for i in range(n):
            q = p.moved(i, dy=1.5)
            s += q.norm() + q.total - q.x
        return s

    same(body, Point(1.0, 3.0), 20)


def test_made_and_returned():
    def body(x):
        p = Point(x)
        q = Point(y=x, x=1)
        return p + 2.0 * q * 0.5 + Point.unit()

    assert same(body, 3.0) == Point(5.0, 5.0)

    def nested(p):
        return (p, Plain(p.x, p), Pair(p.y))

    same(nested, Point(1.0))


def test_types_are_those_of_the_values():
    def body(k):
        return Point(k, 1).x // 2

    assert type(same(body, 7)) is int


def test_merged_on_paths():
    def body(n):
        p = Point(0.0, 0.0)
        for i in range(n):
            if i % 2:
                p = p.moved(1.0)
            else:
                p = Point(p.x, p.y + 1.0)
        return p

    same(body, 7)


def test_compared():
    def body(p, q):
        return (p == q, p != q, p < q, p <= q, p > q, p >= q)

    for p, q in (
        (Point(1, 2), Point(1, 2)),
        (Point(1, 2), Point(1, 3)),
        (Point(2, 2), Point(1, 3)),
    ):
        same(body, p, q)


def test_arrays_in_fields():
    def body(line):
        s = 0.0
        for i in range(len(line.weights)):
            line.weights[i] += line.a.x
            s += line.weights[i] * line.b.y
        return s + line.tags[1]

    make = lambda: Line(Point(1.0), Point(2.0, 4.0), np.arange(4.0))  # noqa: E731
    one, other = make(), make()
    assert body(one) == un.jit(body)(other)
    np.testing.assert_array_equal(one.weights, other.weights)
    back = un.jit(lambda line: line)(other)
    assert back.weights is other.weights and back.a == other.a


def test_named_tuples_are_tuples():
    def body(p, t):
        a, b = p
        return p[0] + p.second + len(p) + a * b + t.a, p.swapped(), p + (1,), p == (1.5, 2)

    same(body, Pair(1.5, 2), Plain(1, 2))


@dataclasses.dataclass(frozen=True)
class Poly:
    values: np.ndarray

    def __len__(self):
        return len(self.values)

    def __getitem__(self, k):
        return self.values[k]

    def __setitem__(self, k, v):
        self.values[k] = v

    def __call__(self, x):
        s = 0.0
        for k in range(len(self)):
            s = s * x + self[k]
        return s

    def __bool__(self):
        return bool(self.values[0] != 0)

    def __neg__(self):
        return Poly(-self.values)


def test_special_methods():
    def body(p):
        s = 0.0
        for v in p:
            s += v
        p[1] = 7.0
        n = -p
        return p(2.0), s, len(p), p[2], (1 if p else 0), n[1]

    def make():
        return Poly(np.array([1.0, 2.0, 3.0]))

    expected = body(make())
    assert un.jit(body)(make()) == expected


def test_replaced():
    def body(p, t):
        return dataclasses.replace(p, y=9.0), t._replace(a=5)

    same(body, Point(1.0), Plain(1, 2))


def test_isinstance_and_class_of_captured_objects():
    origin = Point(0.5, 0.25)

    def body(p):
        if isinstance(p, Point):
            return p + origin
        return p

    same(body, Point(1.0))
    same(body, 3)


def test_kernels_take_them():
    @un.kernel
    def shift(a, p):
        i = un.global_id(0)
        a[i] = a[i] * p.x + p.y

    a = np.arange(5.0)
    shift[5](a, Point(2.0, 1.0))
    np.testing.assert_array_equal(a, np.arange(5.0) * 2 + 1)


def test_a_changed_capture_of_a_method_is_noticed():
    scale = 2.0

    @dataclasses.dataclass(frozen=True)
    class Scaled:
        x: float

        def value(self):
            return self.x * scale

    f = un.jit(lambda s: s.value())
    assert f(Scaled(3.0)) == 6.0
    scale = 5.0
    assert f(Scaled(3.0)) == 15.0


def test_refused():
    @un.jit
    def assign(p):
        p.x = 1.0

    with pytest.raises(un.CompileError, match="Point is frozen"):
        assign(Point(1.0))

    @un.jit
    def augment(p):
        p.x += 1.0

    with pytest.raises(un.CompileError, match="Point is frozen"):
        augment(Point(1.0))

    @un.jit
    def missing(p):
        return p.z

    with pytest.raises(un.CompileError, match="Point has no attribute 'z'"):
        missing(Point(1.0))

    @un.jit
    def method(p):
        return p.jump()

    with pytest.raises(un.CompileError, match="Point has no method 'jump'"):
        method(Point(1.0))

    @un.jit
    def many(p):
        return Point(1.0, 2.0, 3.0)

    with pytest.raises(un.CompileError, match="Point takes 2 arguments by position"):
        many(1)

    @dataclasses.dataclass(frozen=True)
    class Checked:
        x: float

        def __post_init__(self):
            assert self.x > 0

    @un.jit
    def checked():
        return Checked(1.0)

    with pytest.raises(un.CompileError, match="it has a __post_init__"):
        checked()
    assert un.jit(lambda c: c.x)(Checked(2.0)) == 2.0


class Account:
    def __init__(self, balance):
        self.balance = balance


def test_plain_classes_are_refused():
    with pytest.raises(un.CompileError, match=r"decorate it with @dataclasses.dataclass or"):
        un.jit(lambda: Account(1).balance)()
