"""Dicts that are used by constant keys, whose values may be of several types, against CPython."""

import numpy as np
import pytest
import unisono as un


def settings(n):
    p = {"dt": 0.1, "n": n, "name": "euler", "x": np.zeros(2)}
    x = 1.0
    for _ in range(p["n"]):
        x += p["dt"] * -x
    p["x"][0] = x
    return x, p["name"], p["n"], p["x"].tolist(), f"{p['n']:3d}"


def statistics(n):
    stats = dict(count=0, total=0.0, words=["a"])
    for i in range(n):
        stats["count"] += 1
        stats["total"] += i / 2
        stats["words"].append("b")
    return stats["count"], stats["total"], stats["words"]


def nested(n):
    a = {"a": {"b": n, "c": "text"}, "d": [1, 2]}
    return a["a"]["b"], a["a"]["c"], a["d"][1]


def in_a_loop(n):
    for i in range(n):
        row = {"id": i, "s": "q" * i}
        if row["id"] == 2:
            return row["s"], [row["id"] for _ in range(2)]
    return "", [0]


def whole_dict(n):
    d = {"a": 1, "b": n}
    for k in d:
        n += d[k]
    return n, d["a"], len(d), d


def another_key(n):
    d = {"a": 1, "b": n}
    d["c"] = 4
    return d["a"], d["c"]


def function_inside(n):
    d = {"a": 1, "b": n}

    def f():
        return d["a"] + 1

    return f() + d["b"]


def assigned_twice(n):
    d = {"a": 1, "b": n}
    if n > 2:
        d = {"a": 5, "b": 6}
    return d["a"], d["b"]


@pytest.mark.parametrize(
    "function",
    [
        settings,
        statistics,
        nested,
        in_a_loop,
        whole_dict,
        another_key,
        function_inside,
        assigned_twice,
    ],
)
def test_as_in_python(function):
    got = un.jit(nopython=True)(function)(4)
    assert repr(got) == repr(function(4))
