"""match statements in compiled functions, against the Python functions."""

import dataclasses

import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: int


def numbers(n):
    match n:
        case 0 | 1:
            return "small"
        case 7 as k:
            return "seven" + str(k)
        case k if k > 100 and k % 2 == 0:
            return f"big {k}"
        case -1:
            return "minus"
        case k if k > 50:
            return f"mid {k}"
        case _:
            return "other"


def tuples(t):
    match t:
        case (0, 0):
            return -1.0
        case (0, y):
            return float(y)
        case (x, 0) if x > 5:
            return x * 10.0
        case (x, y) if x == y:
            return x * 100.0
        case (x, y, z):
            return x + y + z + 0.5
        case x:
            return -2.0


def nested(t):
    match t:
        case (x, (y, 3 as z)):
            return 1000.0 + x + y + z
        case [x, (_, _)] as whole:
            return x + 0.5 + len(whole)
        case _:
            return -2.0


def classes(v):
    match v:
        case None:
            return "none"
        case True:
            return "true"
        case bool():
            return "bool"
        case int(k):
            return f"int {k}"
        case float(x) if x > 1:
            return f"large {x}"
        case float():
            return "float"
        case str(s):
            return "str " + s
        case Point(x=0.0):
            return "zero"
        case Point(1.0, y):
            return f"one {y}"
        case Point(x, y=3):
            return f"three {x}"
        case Point():
            return "point"
    return "end"


def texts(s):
    match s:
        case "a" | "b":
            r = 1
        case "c":
            r = 2
        case _:
            r = 3
    return r


CASES = [
    *((numbers, n) for n in (0, 1, 7, 102, -1, 51, 3)),
    *((tuples, t) for t in ((0, 0), (0, 3), (9, 0), (4, 4), (1, 2, 3), (5, 6), 3)),
    *((nested, t) for t in ((1, (2, 3)), (1, (2, 4)), (1, 2), 3.5)),
    *((classes, v) for v in (None, True, False, 4, 2.5, 0.5, "x")),
    *((classes, Point(*v)) for v in ((0.0, 1), (1.0, 2), (2.0, 3), (2.0, 4))),
    *((texts, s) for s in "abcd"),
]


@pytest.mark.parametrize(("function", "value"), CASES)
def test_as_in_python(on, function, value):
    assert un.jit(function, device=on)(value) == function(value)
