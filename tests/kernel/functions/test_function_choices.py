"""Functions that are not decorated, chosen when they run, and called with **names: with CPython and compiled."""

import math
import operator

import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


def twice(x):
    return 2 * x


def less(x):
    return x - 1


@un.jit
def compiled(x):
    return x + 100


def scaled(x, factor=2, offset=0):
    return x * factor + offset


def applied(x, op=twice):
    return op(x)


def calls_plain(n):
    return twice(n) + applied(n) + applied(n, less) + applied(op=compiled, x=1)


def chosen_by_expression(n):
    f = twice if n > 2 else compiled
    total = 0
    for i in range(n):
        g = f if i % 2 else less
        total += g(i) + f(g(i))
    return total, (less if n == 3 else twice)(n)


def chosen_by_statement(n):
    def up(x):
        return x + n

    if n > 2:
        f = up
    elif n == 2:
        f = lambda x: x * n  # noqa: E731
    else:
        f = less
    n += 1
    return f(10), applied(5, f), f(x=3)


def table_of_lambdas(op, a, b):
    ops = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "max": max, "**": operator.pow}
    known = op in ops
    return ops[op](a, b), known, len(ops), [name for name in ops]


OPS = {"+": operator.add, "*": operator.mul, "hypot": math.hypot}


def captured_table(op, a, b):
    if op not in OPS:
        return -1.0
    return float(OPS[op](a, b))


def list_of_functions(i, x):
    steps = [twice, less, compiled]
    total = 0
    for f in steps:
        total += f(x)
    return steps[i](x) + total


def the_last_of_equal_keys(op, x):
    return {1: twice, 2: less, 1: less, 2.0: twice}[op](x)  # noqa: F601


def log_first(log):
    log.append(1)
    return 5


def evaluated_once(n):
    log = []
    f = twice if n > 2 else less
    made = f(log_first(log)) + {"a": twice, "b": less}["a" if n > 1 else "b"](log_first(log))
    return made, log


def called_for_effect(n):
    log = [0]

    def one(x):
        log.append(x)

    def two(x):
        log.append(-x)

    f = one if n else two
    f(3)
    f(4)
    return log


CASES = [
    (calls_plain, (3,)),
    (chosen_by_expression, (3,)),
    (chosen_by_expression, (2,)),
    (chosen_by_statement, (1,)),
    (chosen_by_statement, (2,)),
    (chosen_by_statement, (3,)),
    (table_of_lambdas, ("+", 3, 4)),
    (table_of_lambdas, ("max", 3, 4)),
    (table_of_lambdas, ("%", 3, 4)),
    (captured_table, ("*", 3, 4)),
    (captured_table, ("hypot", 3, 4)),
    (captured_table, ("?", 3, 4)),
    (list_of_functions, (1, 7)),
    (list_of_functions, (-1, 7)),
    (list_of_functions, (3, 7)),
    (the_last_of_equal_keys, (1, 10)),
    (the_last_of_equal_keys, (2, 10)),
    (evaluated_once, (1,)),
    (evaluated_once, (3,)),
    (called_for_effect, (0,)),
    (called_for_effect, (1,)),
]


@pytest.mark.parametrize(("function", "args"), CASES)
def test_as_python(function, args):
    assert outcome(un.jit(function), *args) == outcome(function, *args)


def outcome(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)


def test_a_table_that_grows_is_read_again():
    f = un.jit(captured_table)
    assert f("-", 5, 3) == -1.0
    OPS["-"] = operator.sub
    try:
        assert f("-", 5, 3) == 2.0
    finally:
        del OPS["-"]


# ---- **names


def passes_on(x, **names):
    return scaled(x, **names)


def looks(x, *rest, **names):
    total = x + sum(rest) + len(names)
    if "factor" in names:
        total += names["factor"]
    for _, v in names.items():
        total += v
    if names:
        total += passes_on(x, **names)
    return total + names.get("offset", 1000)


def from_dicts(x):
    settings = {"factor": 3, "offset": 1}
    return scaled(x, **settings), scaled(x, offset=4), passes_on(x, **settings)


SETTINGS = {"factor": 5}


def from_captured(x):
    return scaled(x, **SETTINGS)


def missing(**names):
    return names["there"]


@pytest.mark.parametrize(
    ("function", "args", "names"),
    [
        (passes_on, (3,), {}),
        (passes_on, (3,), {"factor": 4}),
        (passes_on, (3,), {"factor": 2.5, "offset": 1}),
        (looks, (3,), {}),
        (looks, (3, 4, 5), {"factor": 7}),
        (looks, (3,), {"offset": 1, "factor": 2}),
        (from_dicts, (3,), {}),
        (from_captured, (3,), {}),
        (missing, (), {"there": 2}),
        (missing, (), {"here": 2}),
    ],
)
def test_keywords(function, args, names):
    assert outcome(un.jit(function), *args, **names) == outcome(function, *args, **names)


def test_keywords_of_captured_dicts_are_read_again():
    f = un.jit(from_captured)
    assert f(2) == 10
    SETTINGS["offset"] = 1
    try:
        assert f(2) == 11
    finally:
        del SETTINGS["offset"]
    assert f(2) == 10


def takes_out(x, **names):
    offset = names.pop("offset", 3)
    return scaled(x, **names) + offset


def test_names_that_are_taken_out_are_refused():
    with pytest.raises(un.CompileError, match=r"changing '\*\*names'"):
        un.jit(takes_out)(1, offset=2)
