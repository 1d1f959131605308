"""Exceptions that methods of texts raise: Python's own class and words."""

import pytest
import unisono as un


def split(s, t):
    return s.split(t)


def rsplit(s, t):
    return s.rsplit(t, 1)


def centred(s, t):
    return s.center(9, t) + s.ljust(9, t)


def index(s, t):
    return s.index(t)


def rindex(s, t):
    return s.rindex(t)


def caught(s, t):
    try:
        return s.split(t)[0] + s.rjust(4, t)
    except ValueError:
        return "value"
    except TypeError:
        return "type"


@pytest.mark.parametrize("function", [split, rsplit, centred, index, rindex, caught])
@pytest.mark.parametrize("t", ["", "b", "xy", "é"])
def test_like_python(function, t):
    compiled = un.jit(function)
    try:
        want = function("abcé", t)
    except Exception as error:
        with pytest.raises(type(error)) as got:
            compiled("abcé", t)
        assert str(got.value).splitlines()[0] == str(error)
    else:
        assert compiled("abcé", t) == want


def test_keywords_of_methods():
    def expanded(s, n):
        return s.expandtabs(tabsize=n), s.expandtabs(n), s.expandtabs()

    assert un.jit(expanded)("a\tbc\td", 4) == expanded("a\tbc\td", 4)
