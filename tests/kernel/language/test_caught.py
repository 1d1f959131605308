"""What handlers ask of an exception that they caught: with CPython and compiled."""

import re

import numpy as np
import pytest
import unisono as un


def names_and_texts(n):
    told = []
    for i in range(4):
        try:
            if i == 0:
                raise ValueError("x")
            if i == 1:
                raise KeyError("k")
            told.append(str(1 // (i - 2)))
        except (ValueError, LookupError, ZeroDivisionError) as e:
            told.append(type(e).__name__ + ": " + str(e))
            told.append(e.__class__.__name__)
    return told


def arguments(n):
    try:
        if n > 3:
            raise ValueError("large", n, 0.5)
        raise ValueError("small", n, 1.5)
    except ValueError as e:
        text, number, _ = e.args
        return text, number, e.args[2], len(e.args)


def one_argument(n):
    try:
        if n > 3:
            raise KeyError(n)
    except KeyError as e:
        return e.args[0]
    return -1


def text_of_other(n):
    told = ""
    try:
        told += str(10 // n)
    except ZeroDivisionError as e:
        told += e.args[0]
    return told


def kinds(n):
    try:
        if n == 0:
            raise KeyError("a")
        if n == 1:
            raise IndexError("b")
        raise RuntimeError("c")
    except Exception as e:
        if isinstance(e, KeyError):
            return 1
        return 2 if isinstance(e, (LookupError, OSError)) else 3


def only_asked(i):
    items = [1, 2, 3]
    try:
        items[i]
    except IndexError:
        return "out of range"
    return "there"


def refused_format(spec):
    try:
        return f"{3.5:{spec}}"
    except ValueError as e:
        return str(e)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (names_and_texts, (1,)),
        (arguments, (1,)),
        (arguments, (4,)),
        (one_argument, (1,)),
        (one_argument, (4,)),
        (text_of_other, (0,)),
        (text_of_other, (2,)),
        (kinds, (0,)),
        (kinds, (1,)),
        (kinds, (2,)),
        (only_asked, (2,)),
        (only_asked, (3,)),
        (refused_format, (".2f",)),
        (refused_format, ("q",)),
        (refused_format, ("d",)),
    ],
)
def test_as_python(function, args):
    assert un.jit(function)(*args) == function(*args)


def raises_elsewhere(n):
    raise ValueError(n, n)


def catches_other_arguments(n):
    try:
        raises_elsewhere(n)
    except ValueError as e:
        return e.args[0]
    return ""


def test_arguments_of_other_types_are_refused():
    with pytest.raises(TypeError, match="other types than those that raise gives here"):
        un.jit(catches_other_arguments)(3)


def raised_now_and_then(i):
    if i % 3 == 0:
        raise ValueError("every third")
    return i


def test_what_raises_goes_on_at_the_handler():
    """Where the callee's body was taken in, nothing looks at how the call ended."""
    inner = un.jit(raised_now_and_then)

    @un.jit
    def total(n):
        s = 0
        for i in range(n):
            try:
                s += inner(i)
            except ValueError:
                s -= 1
        return s

    assert total(10) == sum(i if i % 3 else -1 for i in range(10))
    text = "\n".join(total.inspect_llvm().values())
    assert not re.search(r"%site\d*\.\S+ = ", text)


def test_what_a_statement_raises_for_its_own_handler_touches_no_memory():
    @un.njit
    def count(d):
        s = 0
        for i in range(d.shape[0]):
            try:
                if d[i] == 0:
                    raise ValueError("zero")
                s += d[i]
            except Exception:
                s -= 1
        return s

    d = np.arange(100) % 5
    assert count(d) == count.py_func(d)
    assert "masked.scatter" not in count.inspect_llvm()
