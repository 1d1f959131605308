"""hash, operator's functions in place, members of Enums compared: in compiled functions."""

import enum
import operator
import random

import numpy as np
import pytest
import unisono as un

PLAIN = {
    "iadd": 3,
    "iand": 3,
    "ifloordiv": 3,
    "ilshift": 3,
    "imod": 3,
    "imul": 3,
    "ior": 3,
    "ipow": 3,
}
PLAIN |= {"irshift": 1, "isub": 3, "itruediv": 2, "ixor": 3}


def test_hashes_of_numbers():
    f = un.jit(lambda x: hash(x))
    random.seed(2)
    whole = [0, 1, -1, -2, 2**61 - 1, 2**61, -(2**61), 2**63 - 1, -(2**63), True, False]
    floats = [0.0, -0.0, 1.0, -1.0, 0.5, 1e300, 5e-324, 2.0**61, float("inf"), float("-inf")]
    floats += [random.gauss(0, 1) * 10 ** random.uniform(-30, 30) for _ in range(200)]
    for x in [*whole, *floats]:
        assert f(x) == hash(x), x
    for x in [(1, 2), (1,), (1.5, 2, True), (-1, (2, 3.5)), (0, 0, 0, 0)]:
        assert f(x) == hash(x), x
    with pytest.raises(ValueError, match="hash of nan"):
        f(float("nan"))


@pytest.mark.parametrize("name", PLAIN)
def test_in_place(name):
    function, b = getattr(operator, name), PLAIN[name]
    f = un.jit(lambda a, b: function(a, b))
    assert f(21, b) == function(21, b)
    if name not in ("itruediv", "ipow"):
        ours, theirs = np.arange(4), np.arange(4)
        f(ours, b)
        function(theirs, b)
        np.testing.assert_array_equal(ours, theirs)


def test_of_one_operand():
    f = un.jit(lambda a: (operator.abs(a), operator.invert(a), operator.truth(a), operator.not_(a)))
    assert f(-5) == (5, 4, True, False)


class Color(enum.Enum):
    RED = 1
    BLUE = 2
    CRIMSON = 1  # noqa: PIE796


def members():
    return Color.RED == Color.BLUE, Color.RED is Color.CRIMSON, Color.RED != Color.BLUE


def test_members():
    assert un.jit(members)() == members()
