"""Lists, dicts, sets and objects that compiled functions read and change around them, as CPython does."""

import copy
from dataclasses import dataclass, field

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


@dataclass
class Log:
    count: int = 0
    times: list[float] = field(default_factory=list)


NUMBERS = [1, 2, 3]
FLOATS = [1.5, 2.5]
ROWS = [[1, 2], [3]]
PAIRS = [(1, "a"), (2, "b")]
COUNTS = {"a": 0}
NESTED = {"a": {"x": 1}, "b": {"x": 2}}
SEEN = {1, 2}
MEMO = {0: 0, 1: 1}
LOG = Log()
SETTINGS = {"n": 4, "dt": 0.5, "name": "run", "grid": np.arange(4.0), "range": (0, 2), "w": [1, 2]}
STATE = ("NUMBERS", "FLOATS", "ROWS", "PAIRS", "COUNTS", "NESTED", "SEEN", "MEMO", "LOG")


def changes(i):
    NUMBERS.append(i)
    COUNTS["b"] = COUNTS.get("b", 0) + i
    COUNTS["a"] += 1
    SEEN.add(7)
    LOG.count += 1
    LOG.times.append(0.5 * i)
    ROWS[0][1] = 9
    return NUMBERS[i], len(SEEN), COUNTS["b"]


def reads(k):
    def inner(j):
        return NUMBERS[j] + FLOATS[0]

    flat = [x for row in ROWS for x in row]
    values = [inner(j) for j in range(2)], sorted(NUMBERS), max(FLOATS), list(COUNTS.items())
    return *values, flat, [n * w for n, w in PAIRS], NESTED[k]["x"], 2 in SEEN, NUMBERS == [1, 2, 3]


def recurses(n):
    if n not in MEMO:
        MEMO[n] = recurses(n - 1) + recurses(n - 2)
    return MEMO[n]


def of_settings(x):
    s = 0.0
    for i in range(SETTINGS["n"]):
        s += SETTINGS["dt"] * x + SETTINGS["grid"][i] + SETTINGS["range"][1]
    return s, SETTINGS["name"] + "!", sum(SETTINGS["w"])


def missing(i):
    return NUMBERS[i]


@pytest.fixture
def state():
    kept = {name: copy.deepcopy(globals()[name]) for name in STATE}
    yield kept
    globals().update(kept)


def again(state):
    globals().update(copy.deepcopy(state))


@pytest.mark.parametrize(
    "function, calls", [(changes, (1, 3)), (reads, ("a", "b")), (recurses, (30,))]
)
def test_as_python(function, calls, on, state, monkeypatch):
    expected = [function(x) for x in calls]
    after = {name: copy.deepcopy(globals()[name]) for name in STATE}
    again(state)
    compiled = un.jit(function, device=on)
    monkeypatch.setitem(globals(), function.__name__, compiled)
    assert [compiled(x) for x in calls] == expected
    assert {name: globals()[name] for name in STATE} == after


def test_callers_pass_them_on_and_others_are_noticed(on, state):
    global NUMBERS
    inner = un.jit(missing, device=on)

    @un.jit(device=on)
    def outer(i):
        return inner(i) * 2, NUMBERS[i]

    assert outer(1) == (4, 2)
    NUMBERS[1] = 5
    assert outer(1) == (10, 5)
    for other in ([7, 8.5][:1] * 2, [0.5, 1.5], ["a", "b"]):
        NUMBERS = other
        assert outer(1) == (other[1] * 2, other[1])
    with pytest.raises(IndexError):
        outer(5)


def test_a_dict_of_several_types_is_read_by_constant_keys(on):
    global SETTINGS
    compiled = un.jit(of_settings, device=on)
    assert compiled(2.0) == of_settings(2.0)
    before = SETTINGS
    try:
        SETTINGS["dt"], SETTINGS["name"], SETTINGS["w"] = 2, "other", [5]
        SETTINGS["grid"] = SETTINGS["grid"] + 1
        assert compiled(2.0) == of_settings(2.0)
        SETTINGS = {**SETTINGS, "n": 2}
        assert compiled(2.0) == of_settings(2.0)
    finally:
        SETTINGS = before


def of_closure(table, found):
    def look(k):
        found[k] = table[0]
        return table[k]

    return look


def test_closures(on):
    found = {}
    compiled = un.jit(of_closure([5, 6], found), device=on)
    assert compiled(1) == 6 and found == {1: 5}


def test_what_cannot_be_taken_is_named(on, monkeypatch):
    compiled = un.jit(missing, device=on)
    monkeypatch.setitem(globals(), "NUMBERS", [1, "a"])
    with pytest.raises(TypeError, match="'NUMBERS' around it .* entries of several types"):
        compiled(0)
