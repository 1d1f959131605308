"""Identity of lists, attributes by constant names, hashes, and objects shown as text, against CPython."""

import copy
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest
import unisono as un

NAME, METHOD = "y", "length"
Pair = namedtuple("Pair", "x y")


@dataclass
class Point:
    x: int = 1
    y: float = 2.0

    def length(self):
        return self.x + self.y


@dataclass(frozen=True)
class Fixed:
    a: int
    b: str
    c: float = field(default=1.5, repr=False, compare=False)


@dataclass
class Holder:
    n: int
    inner: Fixed


@dataclass
class Shown:
    a: int

    def __str__(self):
        return f"<{self.a}>"


@dataclass
class Told:
    a: int

    def __repr__(self):
        return f"told {self.a}"


@dataclass
class Private:
    __n: int = 4

    def doubled(self):
        return self.__twice(self.__n)

    def __twice(self, __x):
        return 2 * __x


def same_lists(n):
    a = [n]
    b = a
    c = [n]
    a.append(1)
    return a is b, a is not b, a is c, b is not c, len(b), [a is b, a is c]


def same_arguments(a, b):
    c = a
    return a is b, a is not b, c is a, [1] == a


def attributes(p):
    return (
        hasattr(p, "x"),
        hasattr(p, "z"),
        hasattr(p, "length"),
        getattr(p, NAME),
        getattr(p, "z", 7),
        getattr(p, "x", 3),
        getattr(p, METHOD)(),
    )


def attributes_of_others(xs, s, a):
    return (
        hasattr(xs, "append"),
        hasattr(xs, "shape"),
        hasattr(s, "upper"),
        hasattr(s, "append"),
        hasattr(a, "shape"),
        hasattr(1.5, "is_integer"),
        hasattr(np, "pi"),
        hasattr(np, "no_such"),
        getattr(np, "no_such", 3),
        getattr(s, "none", "no"),
    )


def hashes(s, x):
    return (
        hash(s),
        hash(s + "é"),
        hash((s, 1, 2.5)),
        hash((1, (2, s))),
        hash(x),
        hash(2.5 - 3j),
        hash(Fixed(1, s, x)),
        hash(Pair(x, s)),
    )


def texts(n):
    return (
        str(Pair(n, 2.5)),
        f"{Pair(n, 'q')} {Pair(1, n)!r}",
        repr(Fixed(n, "x")),
        f"{Holder(n, Fixed(2, 'y'))}",
        str(Shown(n)) + f"{Shown(n)!s} {Shown(n)!r}",
        f"{Told(n)}" + str((Told(n), 2)),
    )


def longest(a, b):
    return max(a, b, key=len), min(a, b, "zzz", key=len), max(1, -3, 2, key=abs)


def private(p):
    return p.doubled()


LIST = [1, 2]
CALLS = [
    (same_lists, (3,)),
    (same_arguments, ([1, 2], [1, 2])),
    (same_arguments, (LIST, LIST)),
    (attributes, (Point(),)),
    (attributes_of_others, ([1], "a", np.zeros(2))),
    (hashes, ("abc", 7)),
    (hashes, ("", -1)),
    (hashes, ("𝄞ab", 2.5)),
    (hashes, ("x" * 50, True)),
    (texts, (3,)),
    (longest, ("ab", "abc")),
    (private, (Private(),)),
]


@pytest.mark.parametrize(
    ("function", "args"), CALLS, ids=[f"{f.__name__}{i}" for i, (f, _) in enumerate(CALLS)]
)
def test_as_in_python(function, args):
    expected = function(*copy.deepcopy(args))
    assert un.jit(nopython=True)(function)(*args) == expected


@pytest.mark.parametrize(
    "x",
    [
        np.int8(-5),
        np.uint64(2**64 - 1),
        np.int64(-1),
        np.float32(2.5),
        np.complex64(1 - 2j),
        np.float64(-np.inf),
        True,
    ],
)
def test_hashes_of_numbers(x):
    assert un.jit(lambda x: hash(x))(x) == hash(x)


def test_compiled_class_with_hash_and_text():
    @un.jitclass
    class Cell:
        __v: float
        n: int

        def __init__(self, v):
            self.__v = v
            self.n = 2

        def value(self):
            return self.__v * self.__twice()

        def __twice(self):
            return 2 * self.n

        def __hash__(self):
            return hash((self.n, self.__v))

        def __eq__(self, other):
            return self.n == other.n

        def __str__(self):
            return f"cell {self.n}"

    cell = Cell(1.5)
    expected = hash((2, 1.5))
    assert (cell.value(), hash(cell), {cell: 3}[cell]) == (6.0, expected, 3)
    assert un.jit(lambda c: (hash(c), str(c), hasattr(c, "n"), hasattr(c, "m")))(cell) == (
        expected,
        "cell 2",
        True,
        False,
    )
