"""Exceptions of a program's own classes in compiled functions, against the Python functions."""

import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


class TooSmall(ValueError):
    pass


class MuchTooSmall(TooSmall):
    def __str__(self):
        return "much: " + super().__str__()


class WithCode(RuntimeError):
    def __init__(self, code, text):
        super().__init__(code, text)
        self.code = code


class Two(TooSmall, KeyError):
    pass


def check(n):
    if n < -100:
        raise Two("both")
    if n < -10:
        raise MuchTooSmall(f"got {n}")
    if n < 0:
        raise TooSmall
    if n == 0:
        raise WithCode(n, "zero")
    if n == 1:
        raise ValueError(n, 2.5, "three", True)
    if n == 2:
        raise TooSmall(n) from None
    return n


inner = un.jit(check)


def caught(n):
    found = 0
    text = ""
    try:
        inner(n)
    except MuchTooSmall as e:
        found = 1
        text = f"{e!r} {e}"
    except KeyError as e:
        found = 2
        text = str(e)
    except (TooSmall, WithCode) as e:
        found = 3
        text = repr_of(n) + str(e)
    except ValueError as e:
        found = 4
        text = f"{e} {e!r}"
    return found, text


def repr_of(n):
    return str(n) + ": "


repr_of = un.jit(repr_of)


def passed_on(n):
    try:
        return inner(n)
    except TooSmall as e:
        raise WithCode(n, "from") from e
    finally:
        n += 1


def outcome(function, n):
    try:
        return function(n)
    except Exception as error:
        return type(error), str(error), error.args, getattr(error, "code", None)


@pytest.mark.parametrize("function", [check, caught, passed_on])
@pytest.mark.parametrize("n", [-200, -20, -3, 0, 1, 2, 3])
def test_as_in_python(on, function, n):
    assert outcome(un.jit(function, device=on), n) == outcome(function, n)


def test_another_class_under_the_name_is_noticed(on):
    class First(Exception):
        pass

    class Second(Exception):
        pass

    kind = First

    @un.jit(device=on)
    def f():
        raise kind("text")

    with pytest.raises(First):
        f()
    kind = Second
    with pytest.raises(Second):
        f()
