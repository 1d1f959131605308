"""Members of Enums by value and by name, and their names, in compiled functions."""

from enum import Enum, IntEnum, StrEnum, auto

import pytest
import unisono as un


class Color(Enum):
    RED = "r"
    GREEN = "g"
    ROUGE = "r"  # noqa: PIE796


class Step(Enum):
    ONE = auto()
    TWO = auto()


def by_value(v):
    c = Color(v)
    return c.name, c.value, c is Color.GREEN, [m.name for m in Step], f"{Step(2).name:>5}"


def by_name(v):
    return Color[v].value, Color[v].name, Color[v]


@pytest.mark.parametrize(
    ("function", "given"),
    [(by_value, "g"), (by_value, "x"), (by_name, "ROUGE"), (by_name, "blue")],
)
def test_as_python(function, given):
    def outcome(f):
        try:
            return f(given)
        except (ValueError, KeyError) as error:
            return type(error), str(error)

    assert outcome(un.jit(function)) == outcome(function)


class Level(IntEnum):
    LOW = 1
    HIGH = 5


class Word(StrEnum):
    YES = "yes"


def of_members(level, word):
    return level == Level.HIGH, level + 1, [1, 2, 3][level % 3], word == Word.YES, len(word)


def test_members_that_are_numbers_or_texts_are_passed_as_these():
    compiled = un.jit(of_members)
    for level in Level:
        assert compiled(level, Word.YES) == of_members(level, Word.YES)
    assert compiled(5, "no") == of_members(5, "no")
