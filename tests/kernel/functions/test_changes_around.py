"""What stands around a compiled function is part of its key: it is read anew where that has changed."""

import math
import types

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())

THING = None


class One(Exception):
    pass


class Two(Exception):
    pass


def adds_thing(x):
    return x if THING is None else x + THING


def calls_thing(x):
    return THING(x)


def makes(n):
    return np.zeros(n, THING)


def first_of_thing(x):
    return THING[0] * x


def sign_of_thing():
    return math.copysign(1.0, THING)


def of_module(x):
    return THING.floor(x)


def raises_thing(x):
    if x > 0:
        raise THING("a")
    return x


def answer(f, *args):
    try:
        result = f(*args)
    except Exception as error:
        return type(error)
    return result.dtype if isinstance(result, (np.ndarray, un.ndarray)) else (type(result), result)


@pytest.mark.parametrize(
    "function, argument, things",
    [
        (adds_thing, 1, [None, 3, None, 2.5]),
        (calls_thing, 4.0, [np.sin, np.cos, math.sqrt, math.floor]),
        (makes, 2, [np.float32, np.float64, "int16", np.dtype("int8"), un.float32]),
        (first_of_thing, 2, [(1, 2), (1.0, 2), (True, 2), (1, 2)]),
        (of_module, 1.5, [np, math]),
        (raises_thing, 1, [ValueError, KeyError, One, Two]),
    ],
)
def test_values(on, monkeypatch, function, argument, things):
    compiled = un.jit(function, device=on)
    for thing in things:
        monkeypatch.setitem(globals(), "THING", thing)
        got, want = answer(compiled, argument), answer(function, argument)
        if isinstance(want, tuple):  # NumPy's scalars come back as Python's
            want = (type(getattr(want[1], "item", lambda w=want: w[1])()), want[1])
        assert got == want


def test_signs_of_zero(on, monkeypatch):
    compiled = un.jit(sign_of_thing, device=on)
    for thing in (0.0, -0.0, 0.0):
        monkeypatch.setitem(globals(), "THING", thing)
        assert compiled() == sign_of_thing()


def reads_later(x):
    return x + LATER  # noqa: F821


def calls_reader(x):
    return helper(x)  # noqa: F821


def of_module_later(x):
    return x + THING.later


def test_what_is_there_later(on, monkeypatch):
    """A function that was called too soon works once what it names is there."""
    compiled = un.jit(reads_later, device=on)
    caller = un.jit(calls_reader, device=on)
    with pytest.raises(un.CompileError, match="'helper' .* not defined"):
        caller(1)
    monkeypatch.setitem(globals(), "helper", reads_later)
    with pytest.raises(un.CompileError, match="'LATER' .* not defined"):
        caller(1)
    monkeypatch.setitem(globals(), "helper", compiled)
    for f in (compiled, caller):
        with pytest.raises(un.CompileError, match="'LATER' .* not defined"):
            f(1)
    monkeypatch.setitem(globals(), "LATER", 5)
    assert [compiled(1), caller(1)] == [6, 6]
    module = types.ModuleType("module")
    monkeypatch.setitem(globals(), "THING", module)
    of_module = un.jit(of_module_later, device=on)
    with pytest.raises(un.CompileError, match="'module' has no 'later'"):
        of_module(1)
    module.later = 2
    assert of_module(1) == 3


def test_cells_that_are_filled_later(on):
    @un.jit(device=on)
    def reads(x):
        return x + cell

    with pytest.raises(un.CompileError, match="not defined"):
        reads(1)
    cell = 4
    assert reads(1) == 5


def shadowed(x):
    return abs(x)


def test_names_that_hide_builtins(on, monkeypatch):
    compiled = un.jit(shadowed, device=on)
    assert compiled(-1) == 1
    monkeypatch.setitem(globals(), "abs", un.jit(lambda x: 42, device=on))
    assert compiled(-1) == 42


SETTINGS = {"rows": 2}


def of_settings(x):
    return SETTINGS["rows"] * x


def test_dicts_that_get_entries_of_other_types(on, monkeypatch):
    monkeypatch.setitem(globals(), "SETTINGS", {"rows": 2})
    compiled = un.jit(of_settings, device=on)
    assert compiled(2) == 4
    SETTINGS["width"] = 0.5
    assert compiled(2) == 4
    SETTINGS["rows"] = 1.5
    assert compiled(2) == 3.0
    del SETTINGS["width"]
    assert compiled(2) == 3.0
