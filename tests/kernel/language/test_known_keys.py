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


def keys_of_other_types(n):
    d = {"a": 1, "b": 2.5}
    d["c"] = n
    d["d"] = f"{d['c']}"
    for i in range(n):
        e = {}
        e["i"] = i
        e["half"] = e["i"] / 2
        d["c"] += e["i"]
    return d["a"], d["b"], d["c"], d["d"]


def key_added_under_a_condition(n):
    d = {"a": 1.5, "b": 2.5}
    if n > 2:
        d["c"] = 4.5
    try:
        return d["c"]
    except KeyError:
        return d["a"]


def key_read_before(n):
    d = {"a": n}
    try:
        d["b"] = d["b"] + 1
    except KeyError:
        d["b"] = 7
    return d["a"], d["b"]


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
        keys_of_other_types,
        key_added_under_a_condition,
        key_read_before,
        function_inside,
        assigned_twice,
    ],
)
def test_as_in_python(function):
    got = un.jit(nopython=True)(function)(4)
    assert repr(got) == repr(function(4))
