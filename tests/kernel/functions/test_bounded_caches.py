"""What the front end keeps of functions that are gone."""

import gc
import itertools
import linecache

import numpy as np
import unisono as un
from unisono._jit import captured, plain_functions

_numbers = itertools.count()


def _function(text, scope):
    file = f"<bounded caches {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), scope)
    return scope


def test_places_of_captured_arrays_are_given_back():
    text = "def f(x):\n    return x + TABLE[1]\n"
    for k in range(40):
        scope = _function(text, {"TABLE": np.full(3, float(k))})
        assert un.jit(scope["f"])(1.0) == k + 1
    del scope
    gc.collect()
    scope = _function(text, {"TABLE": np.full(3, 7.0)})
    assert un.jit(scope["f"])(1.0) == 8.0
    assert len(captured._places["TABLE"]) < 5


def test_places_are_told_apart_while_functions_live():
    text = "def f(x):\n    return x + TABLE[1]\n"
    functions = []
    for k in range(10):
        scope = _function(text, {"TABLE": np.full(3, float(k))})
        functions.append(un.jit(scope["f"]))
    functions = functions[::2]
    gc.collect()
    more = _function(text, {"TABLE": np.full(3, 100.0)})
    functions.append(un.jit(more["f"]))
    text = "def g(x):\n    return " + " + ".join(f"f{k}(x)" for k in range(6)) + "\n"
    scope = _function(text, {f"f{k}": f for k, f in enumerate(functions)})
    assert un.jit(scope["g"])(0.0) == 0 + 2 + 4 + 6 + 8 + 100


def test_names_of_captured_arrays_are_given_back():
    for k in range(600):
        text = f"def f(x):\n    return x + T{k}[1]\n"
        scope = _function(text, {f"T{k}": np.full(3, float(k))})
        un.jit(scope["f"], device="interp")._captured_arrays()
    del scope
    gc.collect()
    scope = _function("def f(x):\n    return x + LAST[0]\n", {"LAST": np.ones(1)})
    assert un.jit(scope["f"])(1.0) == 2.0
    assert len(captured._places) <= captured._most_names + 1


def test_plain_functions_are_bounded(monkeypatch):
    monkeypatch.setattr(plain_functions, "_most_compiled", 8)
    for k in range(30):
        scope = _function(
            f"def helper(x):\n    return x + {k}\ndef f(x):\n    return helper(x)\n", {}
        )
        assert un.jit(scope["f"])(1) == k + 1
    assert len(plain_functions._compiled) <= 8
